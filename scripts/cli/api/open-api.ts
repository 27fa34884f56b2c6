import { randomBytes } from 'node:crypto';
import { compareAll } from '../../../functions/answers/backtest/compare-all.ts';
import { createConsoleRead } from '../../../functions/answers/create-console-read.ts';
import { placesOf } from '../../../functions/answers/reading/scope.ts';
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
  type LedgerStore,
  type RecountOutcomes,
} from '../../../functions/core/ledger/index.ts';
import {
  createLimitsDesk,
  DynamoLimitTable,
  type LimitsDocument,
  type LimitTable,
  type Rights,
} from '../../../functions/core/limits/index.ts';
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
import { progressOf, watched } from '../truth/progress.ts';
import { type ApiClient, apiInProcess, rolesOf } from './api-in-process.ts';

/** One table and everything the desk reads and writes in it. */
export interface BudgetTables {
  readonly limits: LimitTable;
  readonly ledger: LedgerStore;
  readonly rollup: Pick<RollupStore, 'readUsage' | 'readTop' | 'readEstimates' | 'readRejections'>;
  readonly directory: DirectoryTable;
  /** What the last recount of all records found. @default nobody recounts */
  readonly recounts?: Pick<RecountOutcomes, 'read'>;
  /** For people: `table tollgate-ledger`. */
  readonly description: string;
  readonly close: () => Promise<void>;
}

export type OpenBudget = (flags: LedgerFlags, io: Pick<TerminalIo, 'env' | 'root'>) => Promise<BudgetTables>;

/** What a command works with. */
export interface BudgetContext {
  /** As an administrator sees it: whoever may read the table may see all of it. */
  readonly api: ApiClient;
  /** As somebody with these rights sees it. */
  readonly apiOf: (name: string, rights: Rights) => ApiClient;
  readonly policy: Policy;
  readonly directory: Directory;
  /** What is in force as long as no set is live. */
  readonly packedFile: string;
}

interface PackedLimits {
  readonly document: LimitsDocument;
  readonly limits: LimitSet;
}

/** A flip that the SDK repeats by itself could take its own first try for somebody else's. */
const ATTEMPTS_MAX = 1;
/** Nobody's job waits for the desk, and a laptop may be far away. */
const TIMEOUT_MS = 15_000;

/** The limits, books and groups in the table that the flags name. @throws like `openLedger` */
export const openBudget: OpenBudget = async (flags, io) => {
  const { table, instance, description, close } = await openTableAccess(flags, io, ATTEMPTS_MAX);
  const parts = { table, instance, clock: systemClock, random: Math.random };
  return {
    limits: new DynamoLimitTable(parts),
    ledger: readOnly(new DynamoStore(parts)),
    rollup: new DynamoRollupStore(parts),
    directory: new DynamoDirectoryTable(parts),
    recounts: dynamoRecountOutcomes(parts),
    description,
    close,
  };
};

/** Opens, asks, and closes whatever comes of it. */
export async function withBudget<T>(
  open: OpenBudget,
  flags: LedgerFlags & RulesFlags,
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
      compareEdit: compareAll(watched(tables.ledger, progressOf('items read', io))),
      usage: tables.rollup,
      ...(tables.recounts !== undefined && { recounts: tables.recounts }),
      places: async () => placesOf(directory),
      zone: rollupZone(io),
      clock,
    });
    const parts = { desk, read, policy, directory: async () => directory, clock, source: 'cli' };
    const apiOf: BudgetContext['apiOf'] = (name, rights) =>
      apiInProcess(parts, { name, roles: rolesOf(rights, directory) });
    const api = apiOf('administrator', [{ role: 'admin' }]);
    return await ask({ api, apiOf, policy, directory, packedFile: files.limits });
  } finally {
    await tables.close();
  }
}

/** @throws {DocumentError} */
function readPacked(file: string, policy: Policy, directory: Directory): PackedLimits {
  const yaml = readYaml(file);
  const { model: limits } = limitsIn(yaml, policy, directory);
  return { document: isRecord(yaml.value) ? yaml.value : {}, limits };
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
