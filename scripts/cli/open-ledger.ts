import { existsSync } from 'node:fs';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { ReadResult } from '../../functions/answers/health/evidence.ts';
import { DynamoDirectoryTable } from '../../functions/core/directory/directory-table.ts';
import { systemClock } from '../../functions/core/environment/environment.ts';
import { dynamoRecountOutcomes, dynamoSweepCheckpoints } from '../../functions/core/ledger/checkpoints.ts';
import { dynamoCanaryOutcomes, dynamoControllerScope } from '../../functions/core/ledger/controller.ts';
import { DynamoStore } from '../../functions/core/ledger/dynamo-store.ts';
import { dynamoInstanceRegister, type KnownInstance } from '../../functions/core/ledger/instances.ts';
import type { LedgerStore } from '../../functions/core/ledger/store.ts';
import { dynamoPseudonymKeys } from '../../functions/core/ledger/user-ids.ts';
import { DynamoLimitTable } from '../../functions/core/limits/limit-table.ts';
import { dynamoPublishedRules } from '../../functions/core/published-rules.ts';
import { dynamoRequeueLists } from '../../functions/core/requeue-list.ts';
import { dynamoSheetStore } from '../../functions/core/sheets/sheet-store.ts';
import { dynamoUserSessions } from '../../functions/core/signin/dynamo-session-store.ts';
import { dynamoStatementChain } from '../../functions/core/statements/closed-statement.ts';
import { dynamoPriceLists } from '../../functions/core/statements/price-lists.ts';
import { readRelayHeartbeats } from '../../functions/core/store/health-items.ts';
import { MemoryTable } from '../../functions/core/store/memory-table.ts';
import type { ItemTable } from '../../functions/core/store/operation.ts';
import { dynamoClient, dynamoTable } from '../../functions/core/store/sdk-table.ts';
import { LedgerError } from '../../functions/core/store/table-failure.ts';
import { dynamoAlertRecords } from '../../functions/core/thresholds/alert-records.ts';
import { DynamoRollupStore } from '../../functions/core/usage/rollup-store.ts';
import { ENV_GITLAB_INSTANCE } from '../../functions/names.ts';
import { withoutAbsent } from '../../policies/without-absent.ts';
import { ledgerFolder } from '../local/ledger-note.ts';
import { PLAYED_GITLAB } from '../local/options.ts';
import { standIn, type TerminalIo, UsageError } from '../terminal/command.ts';
import { type LedgerFlags, type LedgerPlace, ledgerPlace } from './ledger-flags.ts';

type Opened = ReturnType<typeof accessTo>;

/** `names` removes those of users: only if opened for repair. `announce` marks a notice as sent, also where the store is read-only. */
export type LedgerAccess = Pick<Opened, 'store' | 'close'> & NamedBooks & Partial<Opened>;

export type OpenLedger = Open<LedgerAccess>;

type Io = Pick<TerminalIo, 'env' | 'root'>;
type Open<Opened> = (flags: LedgerFlags, io: Io) => Promise<Opened>;

export async function withOpened<Opened extends Pick<LedgerAccess, 'close'>, T>(
  open: Open<Opened>,
  flags: LedgerFlags,
  io: TerminalIo,
  ask: (opened: Opened) => Promise<T>,
): Promise<T> {
  const opened = await standIn(io, open)(flags, io);
  try {
    return await ask(opened);
  } finally {
    await opened.close();
  }
}

/** No job waits: the SDK may retry, and the connection may be slow. */
const ATTEMPTS_MAX = 4;
const CONNECTION_TIMEOUT_MS = 3_000;
const REQUEST_TIMEOUT_MS = 15_000;

/** Nothing is written. @throws {UsageError} for wrong flags, {Error} with the remedy when there is no such ledger. */
export const openLedger: OpenLedger = async (flags, io) => accessTo(await openTableAccess(flags, io));

/**
 * The ledger with the right to write, for `rebuild --repair`, `rebuild --usage`, `reconcile` and `forget user`. The ledger's own
 * attempts repeat a write under one token, so the SDK must not.
 */
export const openToRepair: OpenLedger = async (flags, io) =>
  accessTo(await openTableAccess(flags, io, 1), true);

/** Opens books that a command can do without. @throws {UsageError} {Error} where a ledger was named and cannot be opened. */
export async function openIfAny<T>(open: Open<T>, flags: LedgerFlags, io: Io): Promise<ReadResult<T>> {
  try {
    return { known: true, value: await open(flags, io) };
  } catch (error) {
    const isNamed = flags.ledger !== undefined || flags.instance !== undefined;
    if (!isNamed && error instanceof NoBooksOfGitLab) return { known: false, why: error.message };
    if (isNamed || error instanceof UsageError) throw error;
    return { known: false, why: 'there are no books here; name the table with --ledger' };
  }
}

/** An empty ledger, for a judgement by the documents alone. */
export const openNothing = (): LedgerAccess => ({
  store: new DynamoStore(partsOf({ table: new MemoryTable(), instance: 'none' })),
  ...{ instance: 'none', description: 'no ledger', close: async () => {} },
});

/** For edits: if the SDK repeated one, it would take its own first try for another edit. */
export const openToEdit = async (flags: LedgerFlags, io: Io) => accessTo(await openTableAccess(flags, io, 1));

export const partsOf = ({ table, instance }: Pick<TableAccess, 'table' | 'instance'>) => ({
  ...{ table, instance, clock: systemClock, random: Math.random },
});

function accessTo({ table, ...opened }: TableAccess, repairs = false) {
  const parts = partsOf({ table, instance: opened.instance });
  const store = new DynamoStore(parts);
  const sheets = dynamoSheetStore(parts);
  const [keys, sessions] = [dynamoPseudonymKeys(parts), dynamoUserSessions(parts)];
  return {
    store: repairs ? store : readOnly(store),
    chain: dynamoStatementChain(parts),
    prices: dynamoPriceLists(parts),
    sheets,
    ...(repairs && { names: { store, keys, sessions, sheets } }),
    limits: new DynamoLimitTable(parts),
    directory: new DynamoDirectoryTable(parts),
    usage: new DynamoRollupStore(parts),
    relayHeartbeats: () => readRelayHeartbeats(parts),
    scope: () => dynamoControllerScope(parts).read(),
    canary: () => dynamoCanaryOutcomes(parts).read(),
    requeue: dynamoRequeueLists(parts),
    recounts: dynamoRecountOutcomes(parts),
    alerts: dynamoAlertRecords(parts),
    sweepMarks: dynamoSweepCheckpoints(parts),
    announce: store.announce.bind(store),
    rules: dynamoPublishedRules(parts),
    ...opened,
  };
}

export interface TableAccess extends NamedBooks {
  readonly table: ItemTable;
  readonly close: () => Promise<void>;
}

/** @param attemptsMax - tries of the SDK; 1 for writes that the caller repeats. */
export async function openTableAccess(
  flags: LedgerFlags,
  io: Io,
  attemptsMax = ATTEMPTS_MAX,
): Promise<TableAccess> {
  const place = ledgerPlace(flags, io);
  const opened = await openPlace(place, io, attemptsMax);
  try {
    return await withInstance(opened, place);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

type OpenTable = Omit<TableAccess, 'instance' | 'gitlabUrl'>;

/** Lists the instances of a table, without a check of the instance: for the commands that repair it. */
export async function openRegister(flags: LedgerFlags, io: Io) {
  const opened = await openPlace(ledgerPlace(flags, io), io, ATTEMPTS_MAX);
  const { description, close } = opened;
  return { register: dynamoInstanceRegister(opened), table: opened, description, close };
}

const openPlace = async (place: LedgerPlace, io: Io, attemptsMax: number): Promise<OpenTable> =>
  place.kind === 'local' ? openLocal(io.root) : openTable(place, attemptsMax);

async function withInstance(opened: OpenTable, place: LedgerPlace): Promise<TableAccess> {
  const { kind, instance: named, gitlab } = place;
  const known = await dynamoInstanceRegister(opened).list();
  const { instance, gitlabUrl } = chooseInstance({ named, gitlab, known, kind, where: opened.description });
  const description = kind === 'local' ? `${opened.description}, for ${instance}` : opened.description;
  return { ...opened, description, instance, ...(gitlabUrl !== undefined && { gitlabUrl }) };
}

async function openLocal(root: string): Promise<OpenTable> {
  const dataDir = ledgerFolder(root);
  const others = 'or name a console (--console, $TOLLGATE_CONSOLE) or a table (--ledger)';
  const remedy = `npm start makes it in a clone, on its first run; run tollgate there, ${others}`;
  if (!existsSync(dataDir)) throw new Error(`${dataDir} is not there: ${remedy}`);
  if (process.getBuiltinModule?.('node:sqlite') === undefined)
    throw new Error(
      `--ledger local needs Node 22.13 or newer, this is ${process.version}: use one, ${others}`,
    );
  // Node 20 lacks its SQLite, and the other ledgers do without.
  const { openStoredTable } = await import('../local/ledger-folder.ts');
  const table = openStoredTable(dataDir);
  if (table === undefined) throw new Error(`${dataDir} is not there: ${remedy}`);
  const description = 'the ledger of npm start on this machine';
  return { table, description, close: async () => table.close() };
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

function openTable(
  { tableName, region, endpoint }: Extract<LedgerPlace, { kind: 'table' }>,
  maxAttempts: number,
): OpenTable {
  const timeouts = { connectionTimeout: CONNECTION_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS };
  // DynamoDB Local asks for credentials and takes any.
  const isLocal = endpoint !== undefined && LOOPBACK.test(new URL(endpoint).hostname);
  const client = isLocal
    ? dynamoClient(endpoint)
    : new DynamoDBClient({
        ...{ maxAttempts, requestHandler: { ...timeouts, throwOnRequestTimeout: true } },
        ...withoutAbsent({ region, endpoint }),
      });
  const where = endpoint ?? region;
  return {
    table: dynamoTable(client, tableName),
    description: `table ${tableName}${where === undefined ? '' : ` (${where})`}`,
    close: async () => client.destroy(),
  };
}

interface NamedBooks {
  readonly description: string;
  /** The GitLab it is about, a host: begins every key. */
  readonly instance: string;
  readonly gitlabUrl?: string;
}

interface InstanceRequest {
  readonly named: string | undefined;
  /** Address of the GitLab that the command asks; undefined if it asks none, or if --instance names its books. */
  readonly gitlab: string | undefined;
  readonly known: readonly KnownInstance[];
  readonly kind: LedgerPlace['kind'];
  readonly where: string;
}

type Books = Omit<KnownInstance, 'openedAtMs'>;

class NoBooksOfGitLab extends UsageError {}

/** Chooses the books: those of the GitLab it asks, those it names, or the latest. @throws {UsageError} {NoBooksOfGitLab} */
export function chooseInstance(request: InstanceRequest): Books {
  const { gitlab, known, where } = request;
  if (gitlab === undefined) return namedOrLatest(request);
  const { hostname } = new URL(gitlab);
  const own = known.filter((books) => isBooksOf(books, hostname));
  const chosen = known.length > 0 && own.length === 0 ? undefined : namedOrLatest({ ...request, known: own });
  if (chosen !== undefined && isBooksOf(chosen, hostname)) return chosen;
  const others = chosen === undefined ? known : [chosen];
  throw new NoBooksOfGitLab(
    `--gitlab "${gitlab}": ${where} has data of ${namesOf(others)}, and none of ${hostname}; name the table of ${hostname} with --ledger, or say --instance ${others[0]?.instance} if both are one GitLab`,
  );
}

const namesOf = (books: readonly Books[]): string => books.map(({ instance }) => instance).join(' and ');

/** A GitLab may have been renamed: its keys keep the old host, and `gitlabUrl` has the new one. */
const isBooksOf = ({ instance, gitlabUrl }: Books, hostname: string): boolean =>
  hostname === instance || (gitlabUrl !== undefined && hostname === new URL(gitlabUrl).hostname);

function namedOrLatest({ named, known, kind, where }: InstanceRequest): Books {
  const names = namesOf(known);
  if (named !== undefined) {
    const found = known.find(({ instance }) => instance === named);
    if (found !== undefined || known.length === 0) return found ?? { instance: named };
    throw new UsageError(
      `--instance "${named}": ${where} has data of ${names}, and none of ${named}; leave --instance (and $${ENV_GITLAB_INSTANCE}) away, or say --instance ${known[0]?.instance}`,
    );
  }
  const [latest, ...others] = known.toSorted((a, b) => b.openedAtMs - a.openedAtMs);
  if (kind === 'local') return latest ?? { instance: PLAYED_GITLAB };
  if (latest !== undefined && others.length === 0) return latest;
  throw new UsageError(
    latest === undefined
      ? `--instance is missing: expected the GitLab that ${where} is about, e.g. gitlab.example.com`
      : `--instance is missing: ${where} has the GitLab instances ${names}; expected one`,
  );
}

/** The same table to read from. A write to it is a defect, and is refused before it reaches the table. */
export function readOnly(store: LedgerStore): LedgerStore {
  const refuse = async (): Promise<never> => {
    throw new LedgerError('ledger_misuse', 'the command line reads the ledger here and never writes to it');
  };
  return storeWith(store, { transact: refuse, announce: refuse });
}

/** The same store with some methods replaced. The others run on the store itself, whose fields may be private. */
export const storeWith = <Store extends object>(store: Store, own: Partial<Store>): Store =>
  new Proxy(store, {
    get(target, name) {
      const method: unknown = Reflect.get(name in own ? own : target, name);
      return typeof method === 'function' ? method.bind(target) : method;
    },
  });
