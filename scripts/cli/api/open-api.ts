import { randomBytes } from 'node:crypto';
import { compareAll } from '../../../functions/answers/backtest/count-edit.ts';
import { createConsoleRead } from '../../../functions/answers/create-console-read.ts';
import { placesOf } from '../../../functions/answers/reading/scope.ts';
import { apiClient } from '../../../functions/console/api/client.ts';
import { createOwnerNotifier } from '../../../functions/console/api/notify-owner.ts';
import { type LedgerClock, systemClock } from '../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import type { Ledger } from '../../../functions/core/ledger/ledger.ts';
import type { LedgerStore } from '../../../functions/core/ledger/store.ts';
import { createLimitEdits } from '../../../functions/core/limits/create-limit-edits.ts';
import type { LimitsDocument } from '../../../functions/core/limits/limit-set.ts';
import { DynamoLimitTable, type LimitTable } from '../../../functions/core/limits/limit-table.ts';
import { snsNotifier } from '../../../functions/core/notify/sns.ts';
import { MemoryTable } from '../../../functions/core/store/memory-table.ts';
import { DynamoRollupStore } from '../../../functions/core/usage/rollup-store.ts';
import { type Directory, type DirectoryGroup, indexDirectory } from '../../../policies/directory.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import type { Policy } from '../../../policies/policy.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { limitsIn, readDirectory, readPolicy } from '../../policy/read-documents.ts';
import { readYaml } from '../../policy/yaml-document.ts';
import { standIn, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { commandFetch, ENV_CONSOLE, ENV_ID_TOKEN, readOrigin, readSession } from '../command-fetch.ts';
import { type LedgerFlags, rollupZone } from '../ledger-flags.ts';
import {
  type LedgerAccess,
  type OpenLedger,
  openLedger,
  openToEdit,
  partsOf,
  storeWith,
  withOpened,
} from '../open-ledger.ts';
import { progressOf, watched } from '../reconcile/progress.ts';
import { directoryInForce, type RulesFlags, rulesFiles } from '../rules-flags.ts';
import { type ApiClient, apiInProcess, readInProcess } from './api-in-process.ts';

export interface BudgetContext {
  readonly api: ApiClient;
  readonly apiOf: (name: string) => ApiClient;
  readonly policy: Policy;
  readonly directory: Directory;
  readonly packedFile: string;
}

/** No job waits for it, and the connection may be slow. */
const TIMEOUT_MS = 15_000;
const LIVE_JOBS_MAX = 100;

type ContextFlags = LedgerFlags &
  RulesFlags &
  Readonly<Partial<Record<'actor' | 'topic', string | undefined>>>;

export const withBudget = <T>(
  flags: ContextFlags,
  io: TerminalIo,
  ask: (budget: BudgetContext) => Promise<T>,
): Promise<T> => withContext(flags, io, ask, openToEdit, true);

async function withContext<T>(
  flags: ContextFlags,
  io: TerminalIo,
  ask: (budget: BudgetContext) => Promise<T>,
  open: OpenLedger,
  readsPublished: boolean,
): Promise<T> {
  const files = readFiles(flags, io);
  // The report's --console is for its links.
  const console = 'topic' in flags ? undefined : chooseConsole(flags, io);
  if (console !== undefined) {
    if (flags.actor !== undefined)
      throw new UsageError('--actor belongs to --ledger: the console knows who you are');
    const api = consoleClient(console, io);
    const directory = files.directory ?? (await directorySeen(api));
    return ask({ api, apiOf: () => api, policy: files.policy, directory, packedFile: files.paths.limits });
  }
  return withOpened(open, { ...flags, console: undefined }, io, async ({ limits, ...tables }) => {
    const published = readsPublished ? withoutAbsent({ limits }) : {};
    return ask(await contextOn({ ...tables, ...published }, files, flags, io));
  });
}

/** For questions about jobs. @param ask - `books` is undefined where a console answers: it knows the groups itself. */
export async function withApi<T>(
  flags: LedgerFlags & RulesFlags,
  io: TerminalIo,
  ask: (api: ApiClient, books?: BudgetContext) => Promise<T>,
  open?: OpenLedger,
): Promise<T> {
  const console = chooseConsole(flags, io);
  if (console !== undefined) return ask(consoleClient(console, io));
  return withTable(flags, io, (books) => ask(books.api, books), open);
}

/** The same for read-only commands. Missing tables are empty, and a named file of limits replaces the published ones. */
export const withTable = <T>(
  flags: ContextFlags,
  io: TerminalIo,
  ask: (books: BudgetContext) => Promise<T>,
  open: OpenLedger = openLedger,
): Promise<T> => withContext(flags, io, ask, open, flags.limits === undefined);

function readFiles(flags: RulesFlags, io: TerminalIo) {
  const paths = rulesFiles(flags, io);
  // A file that was named is meant; else what GitLab said last counts, as it does for jobs.
  const directory = flags.directory === undefined ? undefined : readDirectory(paths.directory);
  return { paths, policy: readPolicy(paths.policy), directory };
}

async function contextOn(
  tables: LedgerAccess,
  { paths, policy, directory: named }: ReturnType<typeof readFiles>,
  { topic, console: origin }: ContextFlags,
  io: TerminalIo,
): Promise<BudgetContext> {
  const { store, recounts, alerts, gitlabUrl, sheets, requeue, announce } = tables;
  const empty = partsOf({ table: new MemoryTable(), instance: tables.instance });
  const { limits: table = new DynamoLimitTable(empty), usage = new DynamoRollupStore(empty) } = tables;
  const books = { ...tables, jobs: watched(store, progressOf('items read', io)) };
  const directory = named ?? (await directoryInForce({}, tables.directory, io));
  const clock: LedgerClock = { ...systemClock, nowMs: io.nowMs };
  const ledger = createLedger({ store: patient(store), clock });
  const yaml = readYaml(paths.limits);
  const packed: LimitsDocument = isRecord(yaml.value) ? yaml.value : {};
  const zone = rollupZone(io);
  const limitEdits = createLimitEdits({
    ...{ table, policy, packed, ledger, clock, zone },
    directory: async () => directory,
    newId: () => randomBytes(5).toString('hex'),
  });
  const read = createConsoleRead({
    ...{ limitEdits, policy, ledger, usage, books, zone, clock },
    // The functions note openings, by clocks that are checked.
    limitTable: storeWith<LimitTable>(table, { putOpening: async (opening) => opening }),
    packedLimits: limitsIn(yaml, policy, directory).model,
    compareEdit: compareAll(books.jobs),
    ...withoutAbsent({ recounts, alerts, sheets, requeue, gitlabUrl }),
    places: async () => placesOf(directory),
    recentJobIds: () => recentIds(tables, ledger),
  });
  const reports = { ledger: createLedger({ store: storeWith(store, withoutAbsent({ announce })) }), origin };
  const notifyOwner = topic === undefined ? undefined : standIn(io, reportSender)(topic, reports);
  const parts = {
    ...{ limitEdits, read, policy, directory: async () => directory, clock, source: 'cli' },
    ...withoutAbsent({ origin, notifyOwner }),
  };
  const apiOf = (name: string): ApiClient => apiInProcess(parts, name);
  return { api: apiOf('administrator'), apiOf, policy, directory, packedFile: paths.limits };
}

export const reportSender = (
  topicArn: string,
  deps: Omit<Parameters<typeof createOwnerNotifier>[0], 'notify'>,
) => createOwnerNotifier({ ...deps, notify: snsNotifier({ topicArn }) });

/** Ids that the sweep saw, and those of live jobs; without either, the newest of the whole ledger. */
async function recentIds({ sweepMarks, store }: LedgerAccess, ledger: Ledger): Promise<readonly number[]> {
  const [marks, live] = await Promise.all([
    sweepMarks?.read(),
    ledger.dueJobs(Number.MAX_SAFE_INTEGER, LIVE_JOBS_MAX),
  ]);
  const seen = [...(marks?.runners.values() ?? [])].map(({ seenTo }) => seenTo);
  if (seen.length + live.length > 0) return [...seen, ...live.map(({ jobId }) => jobId)];
  let newest: { readonly jobId: number; readonly decidedAtMs: number } | undefined;
  for await (const item of store.scan())
    if (item.kind === 'record' && item.record.decidedAtMs > (newest?.decidedAtMs ?? 0)) newest = item.record;
  return newest === undefined ? [] : [newest.jobId];
}

/** The same books, whose reads may take longer than a page's. */
const patient = (store: LedgerStore): LedgerStore =>
  storeWith(store, {
    readCounters: (keys) => store.readCounters(keys, { timeoutMs: TIMEOUT_MS }),
    readRecords: (jobIds) => store.readRecords(jobIds, { timeoutMs: TIMEOUT_MS }),
  });

/** A month of a large instance takes a while. */
const CONSOLE_TIMEOUT_MS = 30_000;
const PAGE_GROUPS = '100';
/** Two thousand groups; others need a GitLab id or --directory. */
const PAGES_MAX = 20;

/** Returns the console's address from flag or variable; undefined: use a table. @throws {UsageError} */
export function chooseConsole(flags: LedgerFlags, { env }: Pick<TerminalIo, 'env'>): string | undefined {
  const namesTable = [flags.ledger, flags.instance, flags.region, flags.endpoint].some(
    (flag) => flag !== undefined,
  );
  if (flags.console !== undefined && namesTable) throw new UsageError('--console and --ledger: expected one');
  const named = flags.console ?? (namesTable ? undefined : env[ENV_CONSOLE]);
  return named ? readOrigin(named) : undefined;
}

export const canUseConsole = (origin: string, { env }: Pick<TerminalIo, 'env'>): boolean =>
  Boolean(env[ENV_ID_TOKEN]) || readSession(origin, env) !== undefined;

/** @throws {UsageError} without a sign-in there. */
export function consoleClient(
  origin: string,
  { env }: Pick<TerminalIo, 'env'>,
  send: typeof fetch = commandFetch({ env }),
): ApiClient {
  const session = env[ENV_ID_TOKEN] || readSession(origin, env);
  if (session === undefined)
    throw new UsageError(
      `not signed in; expected tollgate login ${origin} before, or a job's id_token in $${ENV_ID_TOKEN}`,
    );
  return apiClient({
    origin,
    session,
    // The console does not redirect; never send the session elsewhere.
    fetch: async (input, init) => {
      const signal = AbortSignal.timeout(CONSOLE_TIMEOUT_MS);
      const response = await send(input, { ...init, redirect: 'manual', signal });
      const isPage = /html/.test(response.headers.get('content-type') ?? '');
      if (isPage || (response.status >= 300 && response.status < 400))
        throw new Error(
          `${origin} answered with ${isPage ? 'a web page' : 'a redirect'} (${response.status}). Check the console's address, and that no sign-in page stands in front of its API.`,
        );
      return response;
    },
  });
}

async function directorySeen(api: ApiClient): Promise<Directory> {
  const groups = new Map<number, DirectoryGroup>();
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const query = { sort: 'name' as const, max: PAGE_GROUPS, ...(cursor !== undefined && { cursor }) };
    const seen = await readInProcess(api.groups.$get({ query }));
    for (const { groupId: id, parentId, path, personal } of seen.rows)
      if (id !== undefined)
        groups.set(id, { id, path, personal, ...(parentId !== undefined && { parentId }) });
    cursor = seen.next;
    if (cursor === undefined) break;
  }
  // Visible groups may have invisible parents.
  return indexDirectory(
    [...groups.values()].map(({ parentId, ...group }) =>
      parentId !== undefined && groups.has(parentId) ? { ...group, parentId } : group,
    ),
  );
}
