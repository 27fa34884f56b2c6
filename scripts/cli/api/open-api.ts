import { randomBytes } from 'node:crypto';
import { compareAll } from '../../../functions/answers/backtest/count-edit.ts';
import { createConsoleRead } from '../../../functions/answers/create-console-read.ts';
import type { StatementBooks } from '../../../functions/answers/reading/context.ts';
import { placesOf } from '../../../functions/answers/reading/scope.ts';
import { type ReportSender, tellOwnerBy } from '../../../functions/console/api/tell-owner.ts';
import { readWholeDirectory } from '../../../functions/core/directory/directory-part.ts';
import type { DirectoryTable } from '../../../functions/core/directory/directory-table.ts';
import { DynamoDirectoryTable } from '../../../functions/core/directory/dynamo-directory-table.ts';
import { type LedgerClock, systemClock } from '../../../functions/core/environment/environment.ts';
import type { RunnerDetails } from '../../../functions/core/gitlab/kept-answers.ts';
import {
  dynamoRecountOutcomes,
  dynamoSweepMarks,
  type RecountOutcomes,
} from '../../../functions/core/ledger/checkpoints.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../functions/core/ledger/dynamo-store.ts';
import type { LedgerStore } from '../../../functions/core/ledger/store.ts';
import { createLimitsDesk } from '../../../functions/core/limits/create-limits-desk.ts';
import { DynamoLimitTable } from '../../../functions/core/limits/dynamo-limit-table.ts';
import type { Rights } from '../../../functions/core/limits/edit-model.ts';
import type { LimitsDocument } from '../../../functions/core/limits/limit-set.ts';
import type { LimitTable } from '../../../functions/core/limits/limit-table.ts';
import { snsNotifier } from '../../../functions/core/notify/sns.ts';
import type { RequeueLists } from '../../../functions/core/requeue-list.ts';
import { dynamoSheetStore, type SheetStore } from '../../../functions/core/sheets/sheet-store.ts';
import { MemoryTable } from '../../../functions/core/store/memory-table.ts';
import {
  type AlertRecordStore,
  dynamoAlertRecords,
} from '../../../functions/core/thresholds/alert-records.ts';
import { DynamoRollupStore, type RollupStore } from '../../../functions/core/usage/rollup-store.ts';
import type { Directory } from '../../../policies/directory.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Policy } from '../../../policies/policy.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { limitsIn, readDirectory, readPolicy } from '../../policy/read-documents.ts';
import { readYaml } from '../../policy/yaml-document.ts';
import { standIn, type TerminalIo, UsageError } from '../../terminal/command.ts';
import type { LedgerFlags } from '../ledger-flags.ts';
import { type OpenLedger, openLedger, openTableAccess, readOnly } from '../open-ledger.ts';
import { rollupZone } from '../rollup-zone.ts';
import { type RulesFiles, type RulesFlags, rulesFiles } from '../rules-flags.ts';
import { progressOf, watched } from '../truth/progress.ts';
import { type ApiClient, apiInProcess, rolesOf } from './api-in-process.ts';
import { consoleAsked, consoleClient, directorySeen } from './console-client.ts';

/** One table and everything the desk reads and writes in it. */
export interface BudgetTables {
  readonly limits: LimitTable;
  readonly ledger: LedgerStore;
  readonly rollup: Pick<RollupStore, 'readUsage' | 'readTop' | 'readEstimates' | 'readRejections'>;
  readonly directory: DirectoryTable;
  /** Packed usage, for reports. @default all read live */
  readonly sheets?: Pick<SheetStore, 'read'>;
  /** Result of the last recount. @default none */
  readonly recounts?: Pick<RecountOutcomes, 'read'>;
  /** Sent threshold alerts. @default none */
  readonly alerts?: Pick<AlertRecordStore, 'read'>;
  /** Recent job ids. @default the newest of the whole ledger */
  readonly recentJobIds?: () => Promise<readonly number[]>;
  /** Brings owners the shadow report by this topic. @param origin - of the console, for links */
  readonly reporter?: (topicArn: string, origin: string | undefined) => ReportSender;
  /** Details of runners. @default none */
  readonly runnerDetails?: RunnerDetails;
  /** `https://gitlab.example.com`, if the ledger remembers it. */
  readonly gitlabUrl?: string;
  /** For people: `table tollgate-ledger`. */
  readonly description: string;
  readonly close: () => Promise<void>;
}

export type OpenBudget = (flags: LedgerFlags, io: Pick<TerminalIo, 'env' | 'root'>) => Promise<BudgetTables>;

/** Context of a command. */
export interface BudgetContext {
  /** With an administrator's view, because access to the table shows everything. */
  readonly api: ApiClient;
  /** With the view of these rights. */
  readonly apiOf: (name: string, rights: Rights) => ApiClient;
  readonly policy: Policy;
  readonly directory: Directory;
  /** Limits in force until a set is published. */
  readonly packedFile: string;
}

interface PackedLimits {
  readonly document: LimitsDocument;
  readonly limits: LimitSet;
}

/** If the SDK repeated a publication, its own first try would look like a conflict. */
const ATTEMPTS_MAX = 1;
/** No job waits for it, and the connection may be slow. */
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
    sheets: dynamoSheetStore(parts),
    directory: new DynamoDirectoryTable(parts),
    recounts: dynamoRecountOutcomes(parts),
    alerts: dynamoAlertRecords(parts),
    recentJobIds: async () => {
      const [marks, live] = await Promise.all([
        dynamoSweepMarks(parts).read(),
        ledger.dueJobs(Number.MAX_SAFE_INTEGER, LIVE_JOBS_MAX),
      ]);
      const seen = [...(marks?.runners.values() ?? [])].map(({ seenTo }) => seenTo);
      return [...seen, ...live.map(({ jobId }) => jobId)];
    },
    reporter: (topicArn, origin) => tellOwnerBy({ notify: snsNotifier({ topicArn }), ledger, origin }),
    ...(gitlabUrl !== undefined && { gitlabUrl }),
    description,
    close,
  };
};

/** Delivery of reports to owners. */
interface ReportFlags {
  /** The topic of owners, an ARN. */
  readonly topic?: string | undefined;
  /** The console's address. */
  readonly console?: string | undefined;
}

/** Opens, runs and always closes. */
export async function withBudget<T>(
  flags: LedgerFlags & RulesFlags & ReportFlags & WhoFlags,
  io: TerminalIo,
  ask: (budget: BudgetContext) => Promise<T>,
  details: Pick<BudgetTables, 'runnerDetails'> = {},
): Promise<T> {
  const files = readFiles(flags, io);
  // The report's --console is for its links.
  const console = 'topic' in flags ? undefined : consoleAsked(flags, io);
  if (console !== undefined) return ask(await overConsole(console, files, flags, io));
  const tables = { ...(await standIn(io, openBudget)({ ...flags, console: undefined }, io)), ...details };
  try {
    return await ask(await contextOn(tables, files, flags, io));
  } finally {
    await tables.close();
  }
}

/**
 * Opens the API of a console, or of a ledger in this process, for questions about jobs.
 *
 * @param ask - `books` is undefined where a console answers: it knows the groups itself.
 */
export async function withApi<T>(
  flags: LedgerFlags & RulesFlags,
  io: TerminalIo,
  ask: (api: ApiClient, books?: BudgetContext) => Promise<T>,
  open?: OpenLedger,
): Promise<T> {
  const console = consoleAsked(flags, io);
  if (console !== undefined) return ask(consoleClient(console, io));
  return withBooks(flags, io, (books) => ask(books.api, books), open);
}

/**
 * The same for read-only commands: with published limits and stored groups, unless a file of limits is
 * named. Missing tables are empty.
 */
export async function withBooks<T>(
  flags: LedgerFlags & RulesFlags & WhoFlags,
  io: TerminalIo,
  ask: (books: BudgetContext) => Promise<T>,
  open: OpenLedger = standIn(io, openLedger),
): Promise<T> {
  const files = readFiles(flags, io);
  const console = consoleAsked(flags, io);
  if (console !== undefined) return ask(await overConsole(console, files, flags, io));
  const ledger = await open(flags, io);
  try {
    const empty = {
      ...{ table: new MemoryTable(), instance: ledger.instance },
      ...{ clock: systemClock, random: Math.random },
    };
    const tables = {
      limits: (flags.limits === undefined ? ledger.limits : undefined) ?? new DynamoLimitTable(empty),
      ledger: ledger.store,
      rollup: ledger.usage ?? new DynamoRollupStore(empty),
      directory: ledger.directory ?? new DynamoDirectoryTable(empty),
      ...withoutAbsent({ sheets: ledger.sheets, requeue: ledger.requeue, gitlabUrl: ledger.gitlabUrl }),
      books: { ...ledger, jobs: watched(ledger.store, progressOf('items read', io)) },
    };
    return await ask(await contextOn(tables, files, {}, io));
  } finally {
    await ledger.close();
  }
}

interface ApiFiles {
  readonly paths: RulesFiles;
  readonly policy: Policy;
  /** A file that was named is meant; else what GitLab said last counts, as it does for jobs. */
  readonly directory: Directory | undefined;
}

function readFiles(flags: RulesFlags, io: TerminalIo): ApiFiles {
  const paths = rulesFiles(flags, io);
  const directory = flags.directory === undefined ? undefined : readDirectory(paths.directory);
  return { paths, policy: readPolicy(paths.policy), directory };
}

/** The author, if the table cannot know. */
interface WhoFlags {
  readonly actor?: string | undefined;
  readonly as?: string | undefined;
}

/** The same through the console's API, which knows the caller. @throws {UsageError} */
async function overConsole(
  origin: string,
  { paths, policy, directory: named }: ApiFiles,
  { actor, as }: WhoFlags,
  io: TerminalIo,
): Promise<BudgetContext> {
  if (actor !== undefined || as !== undefined)
    throw new UsageError('--actor and --as belong to --ledger: the console knows who you are');
  const api = consoleClient(origin, io);
  const directory = named ?? (await directorySeen(api));
  return { api, apiOf: () => api, policy, directory, packedFile: paths.limits };
}

interface ApiTables extends Omit<BudgetTables, 'description' | 'close'> {
  /** @default no statements */
  readonly books?: StatementBooks;
  /** Which rejected jobs are to be retried. @default none is known */
  readonly requeue?: Pick<RequeueLists, 'read'>;
}

/** @throws {DocumentError} {DirectoryError} */
async function contextOn(
  tables: ApiTables,
  { paths, policy, directory: named }: ApiFiles,
  { topic, console: origin }: ReportFlags,
  io: TerminalIo,
): Promise<BudgetContext> {
  const {
    limits: table,
    ledger: store,
    rollup,
    directory: groups,
    recounts,
    alerts,
    books,
    gitlabUrl,
    runnerDetails,
    sheets,
    requeue,
  } = tables;
  const synced = named ?? (await readWholeDirectory(groups, { timeoutMs: TIMEOUT_MS }))?.directory;
  const directory = synced ?? readDirectory(paths.directory);
  const clock: LedgerClock = { ...systemClock, nowMs: io.nowMs };
  const ledger = createLedger({ store: patient(store), clock });
  const packed = readPacked(paths.limits, policy, directory);
  const zone = rollupZone(io);
  const desk = createLimitsDesk({
    table,
    policy,
    packed: packed.document,
    directory: async () => directory,
    ledger,
    clock,
    newId: () => randomBytes(5).toString('hex'),
    zone,
  });
  const read = createConsoleRead({
    desk,
    limitTable: readingOpenings(table),
    packedLimits: packed.limits,
    policy,
    ledger,
    compareEdit: compareAll(watched(store, progressOf('items read', io))),
    usage: rollup,
    ...withoutAbsent({ books, recounts, alerts, runnerDetails, sheets, requeue }),
    places: async () => placesOf(directory),
    zone,
    clock,
    recentJobIds: () => recentIds(tables),
    ...(gitlabUrl !== undefined && { gitlabUrl }),
  });
  const tellOwner = topic === undefined ? undefined : tables.reporter?.(topic, origin);
  const parts = {
    ...{ desk, read, policy, directory: async () => directory, clock, source: 'cli' },
    ...withoutAbsent({ origin, tellOwner }),
  };
  const apiOf: BudgetContext['apiOf'] = (name, rights) =>
    apiInProcess(parts, { name, roles: rolesOf(rights, directory) });
  const api = apiOf('administrator', [{ role: 'admin' }]);
  return { api, apiOf, policy, directory, packedFile: paths.limits };
}

/** Without relays and sweeps, the newest record shows the current ids. */
async function recentIds({ recentJobIds, ledger }: ApiTables): Promise<readonly number[]> {
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
