import { randomBytes } from 'node:crypto';
import { createConsoleRead } from '../../../functions/answers/create-console-read.ts';
import { placesOf } from '../../../functions/answers/reading/scope.ts';
import { type ReportSender, tellOwnerBy } from '../../../functions/console/api/tell-owner.ts';
import {
  type DirectoryTable,
  DynamoDirectoryTable,
  readWholeDirectory,
} from '../../../functions/core/directory/index.ts';
import { type LedgerClock, systemClock } from '../../../functions/core/environment/index.ts';
import {
  createLedger,
  DynamoStore,
  dynamoRecountOutcomes,
  dynamoSweepMarks,
  type LedgerStore,
  type RecountOutcomes,
} from '../../../functions/core/ledger/index.ts';
import {
  createLimitsDesk,
  DynamoLimitTable,
  type LimitsDesk,
  type LimitsDocument,
  type LimitTable,
  type Rights,
} from '../../../functions/core/limits/index.ts';
import { snsNotify } from '../../../functions/core/sns/index.ts';
import { DynamoRollupStore, type RollupStore } from '../../../functions/core/usage/index.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import type { Policy } from '../../../policies/policy.ts';
import { limitsIn, readDirectory, readPolicy } from '../../policy/read-documents.ts';
import { readYaml } from '../../policy/yaml-document.ts';
import type { TerminalIo } from '../../terminal/command.ts';
import type { LedgerFlags } from '../ledger/ledger-flags.ts';
import { openTableAccess } from '../ledger/open-ledger.ts';
import { readOnly } from '../ledger/read-only-store.ts';
import { rollupZone } from '../rollup-zone.ts';
import { type RulesFlags, rulesFiles } from '../rules-flags.ts';
import { type ApiClient, apiInProcess, rolesOf } from './api-in-process.ts';

/** One table and everything the desk reads and writes in it. */
export interface BudgetTables {
  readonly limits: LimitTable;
  readonly ledger: LedgerStore;
  readonly rollup: Pick<RollupStore, 'readUsage' | 'readTop' | 'readEstimates' | 'readRejections'>;
  readonly directory: DirectoryTable;
  /** What the last recount of all records found. @default nobody recounts */
  readonly recounts?: Pick<RecountOutcomes, 'read'>;
  /** Ids of jobs decided lately, for whoever counts back from them. @default the newest of the whole ledger */
  readonly recentJobIds?: () => Promise<readonly number[]>;
  /** Brings owners the shadow report by this topic. @param origin - of the console, for links */
  readonly reporter?: (topicArn: string, origin: string | undefined) => ReportSender;
  /** `https://gitlab.example.com`, if the ledger remembers it. */
  readonly gitlabUrl?: string;
  /** For people: `table tollgate-ledger`. */
  readonly description: string;
  readonly close: () => Promise<void>;
}

export type OpenBudget = (flags: LedgerFlags, io: Pick<TerminalIo, 'env' | 'root'>) => Promise<BudgetTables>;

/** What a command works with. */
export interface BudgetContext extends Omit<BudgetTables, 'directory'> {
  /** As an administrator sees it: whoever may read the table may see all of it. */
  readonly api: ApiClient;
  /** As somebody with these rights sees it. */
  readonly apiOf: (name: string, rights: Rights) => ApiClient;
  readonly desk: LimitsDesk;
  readonly policy: Policy;
  readonly directory: Directory;
  /** In force as long as no set is live. */
  readonly packed: PackedLimits;
}

interface PackedLimits {
  /** Its path. */
  readonly file: string;
  readonly document: LimitsDocument;
  readonly limits: LimitSet;
}

/** A flip that the SDK repeats by itself could take its own first try for somebody else's. */
const ATTEMPTS_MAX = 1;
/** Nobody's job waits for the desk, and a laptop may be far away. */
const TIMEOUT_MS = 15_000;
const LIVE_JOBS_MAX = 100;

/** The limits, books and groups in the table that the flags name. @throws like `openLedger` */
export const openBudget: OpenBudget = async (flags, io) => {
  const { table, instance, description, gitlabUrl, close } = await openTableAccess(flags, io, ATTEMPTS_MAX);
  const parts = { table, instance, clock: systemClock, random: Math.random };
  const store = new DynamoStore(parts);
  const ledger = createLedger({ store });
  return {
    limits: new DynamoLimitTable(parts),
    ledger: readOnly(store),
    rollup: new DynamoRollupStore(parts),
    directory: new DynamoDirectoryTable(parts),
    recounts: dynamoRecountOutcomes(parts),
    recentJobIds: async () => {
      const [marks, live] = await Promise.all([
        dynamoSweepMarks(parts).read(),
        ledger.dueJobs(Number.MAX_SAFE_INTEGER, LIVE_JOBS_MAX),
      ]);
      const seen = [...(marks?.runners.values() ?? [])].map(({ seenTo }) => seenTo);
      return [...seen, ...live.map(({ jobId }) => jobId)];
    },
    reporter: (topicArn, origin) => tellOwnerBy({ notify: snsNotify({ topicArn }), ledger, origin }),
    ...(gitlabUrl !== undefined && { gitlabUrl }),
    description,
    close,
  };
};

/** How a report reaches an owner. */
interface ReportFlags {
  /** The topic of owners, an ARN. */
  readonly topic?: string | undefined;
  /** Where the console is. */
  readonly console?: string | undefined;
}

/** Opens, asks, and closes whatever comes of it. */
export async function withBudget<T>(
  open: OpenBudget,
  flags: LedgerFlags & RulesFlags & ReportFlags,
  io: TerminalIo,
  ask: (budget: BudgetContext) => Promise<T>,
): Promise<T> {
  const files = rulesFiles(flags, io);
  const policy = readPolicy(files.policy);
  // A file that was named is meant; else what GitLab said last counts, as it does for jobs.
  const named = flags.directory === undefined ? undefined : readDirectory(files.directory);
  const tables = await open(flags, io);
  try {
    const synced =
      named ?? (await readWholeDirectory(tables.directory, { timeoutMs: TIMEOUT_MS }))?.directory;
    const directory = synced ?? readDirectory(files.directory);
    const clock: LedgerClock = { ...systemClock, nowMs: io.nowMs };
    const counters = createLedger({ store: patient(tables.ledger), clock });
    const packed = readPacked(files.limits, policy, directory);
    const desk = createLimitsDesk({
      table: tables.limits,
      policy,
      packed: packed.document,
      directory: async () => directory,
      ledger: counters,
      clock,
      newId: () => randomBytes(5).toString('hex'),
      zone: rollupZone(io),
    });
    const read = createConsoleRead({
      desk,
      limitTable: readingOpenings(tables.limits),
      packedLimits: packed.limits,
      policy,
      ledger: counters,
      usage: tables.rollup,
      ...(tables.recounts !== undefined && { recounts: tables.recounts }),
      places: async () => placesOf(directory),
      zone: rollupZone(io),
      clock,
      recentJobIds: () => recentIds(tables),
      ...(tables.gitlabUrl !== undefined && { gitlabUrl: tables.gitlabUrl }),
    });
    const { topic, console: origin } = flags;
    const tellOwner = topic === undefined ? undefined : tables.reporter?.(topic, origin);
    const parts = {
      ...{ desk, read, policy, directory: async () => directory, clock },
      ...(origin !== undefined && { origin }),
      ...(tellOwner !== undefined && { tellOwner }),
    };
    const apiOf: BudgetContext['apiOf'] = (name, rights) =>
      apiInProcess(parts, { name, roles: rolesOf(rights, directory) });
    const api = apiOf('administrator', [{ role: 'admin' }]);
    return await ask({ ...tables, api, apiOf, desk, policy, directory, packed });
  } finally {
    await tables.close();
  }
}

/** Where nothing runs and nobody swept, the newest record says where ids are. */
async function recentIds({ recentJobIds, ledger }: BudgetTables): Promise<readonly number[]> {
  const known = (await recentJobIds?.()) ?? [];
  if (known.length > 0) return known;
  let newest: { readonly jobId: number; readonly decidedAtMs: number } | undefined;
  for await (const item of ledger.scan())
    if (item.kind === 'record' && item.record.decidedAtMs > (newest?.decidedAtMs ?? 0)) newest = item.record;
  return newest === undefined ? [] : [newest.jobId];
}

/** @throws {DocumentError} */
function readPacked(file: string, policy: Policy, directory: Directory): PackedLimits {
  const yaml = readYaml(file);
  const { model: limits } = limitsIn(yaml, policy, directory);
  return { file, document: isRecord(yaml.value) ? yaml.value : {}, limits };
}

/** The same books, whose reads may take longer than a page's. */
const patient = (store: LedgerStore): LedgerStore => ({
  ...store,
  readCounters: (keys) => store.readCounters(keys, { timeoutMs: TIMEOUT_MS }),
  readRecords: (jobIds) => store.readRecords(jobIds, { timeoutMs: TIMEOUT_MS }),
});

/** The same table, which notes no opening: that is for the programs whose clocks are looked after. */
const readingOpenings = (table: LimitTable): LimitTable => ({
  getPointer: (options) => table.getPointer(options),
  putChunk: (set, chunk, options) => table.putChunk(set, chunk, options),
  readChunks: (set, names, options) => table.readChunks(set, names, options),
  flip: (to, base, options, entry) => table.flip(to, base, options, entry),
  readLog: (before, max, options) => table.readLog(before, max, options),
  putRequest: (item, options) => table.putRequest(item, options),
  readRequests: (max, options) => table.readRequests(max, options),
  retire: (set, atSeconds, options) => table.retire(set, atSeconds, options),
  readOpenings: (keys, options) => table.readOpenings(keys, options),
  putOpening: async (opening) => opening,
});
