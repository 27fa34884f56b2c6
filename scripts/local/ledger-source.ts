import type { LedgerClock } from '../../functions/core/environment/index.ts';
import {
  createLedger,
  DynamoStore,
  dynamoInstanceRegister,
  dynamoRecountOutcomes,
  dynamoReportedEnds,
  dynamoSweepMarks,
  type InboxStore,
  type KnownInstance,
  type Ledger,
  type LedgerStore,
  type RecountOutcomes,
  type ReportedEnds,
  type SweepMarkStore,
} from '../../functions/core/ledger/index.ts';
import { DynamoLimitTable, type LimitTable } from '../../functions/core/limits/index.ts';
import { dynamoSheetStore, type SheetStore } from '../../functions/core/sheets/index.ts';
import { dynamoSessionStore, type SessionStore } from '../../functions/core/signin/index.ts';
import { dynamoStatementChain, type StatementChain } from '../../functions/core/statements/index.ts';
import {
  type ItemTable,
  type LedgerKeys,
  ledgerKeys,
  MemoryTable,
} from '../../functions/core/store/index.ts';
import { DynamoRollupStore, type RollupStore } from '../../functions/core/usage/index.ts';
import type { TableStreamRecord } from '../../functions/settle/consume.ts';
import { memoryStream } from './memory-stream.ts';
import { type NotifyingStore, notifyingStore, type WriteListener } from './notifying-store.ts';
import { openOwn } from './sqlite/ledger-folder.ts';

/** A ledger for this machine, and what to tell people about where it keeps its numbers. */
export interface LocalLedger {
  readonly ledger: Ledger;
  readonly store: LedgerStore & InboxStore;
  readonly keys: LedgerKeys;
  /** The GitLab host that keys begin with. */
  readonly instance: string;
  readonly marks: SweepMarkStore;
  readonly reported: ReportedEnds;
  /** Sets of limits: `tollgate limits publish` writes one, whoever decides reads it. */
  readonly limits: LimitTable;
  /** What pages show of the past. Whoever counts is told by `onWritten`. */
  readonly usage: RollupStore;
  readonly sessions: SessionStore;
  readonly chain: StatementChain;
  /** What the last comparison of counters with their jobs found. */
  readonly recounts: RecountOutcomes;
  /** What is packed of usage, for reports. */
  readonly sheets: SheetStore;
  /** From now on told of the jobs whose records were written, or perhaps were: to be read. */
  onWritten(listener: WriteListener): void;
  /** Resolves when no transaction is under way, at the latest after so long: for work that is in no hurry. */
  quiet: NotifyingStore['quiet'];
  /** The table's stream from now on. Ends with the signal. */
  stream(signal: AbortSignal): AsyncIterable<readonly TableStreamRecord[]>;
  readonly description: string;
  stop(): void;
}

interface LedgerPlace {
  /**
   * The GitLab whose books are opened, by what the folder knows; it is remembered there.
   * @throws {UsageError} where they cannot be told.
   */
  readonly whose: (known: readonly KnownInstance[]) => Omit<KnownInstance, 'openedAtMs'>;
  /** Undefined: in memory. */
  readonly dataDir: string | undefined;
  readonly fresh: boolean;
  readonly clock: LedgerClock;
}

/** Between two looks at what other programs wrote. */
const STREAM_PAUSE_MS = 200;

/**
 * Opens the file in `dataDir`, or a ledger in memory.
 *
 * @throws {UsageError} when another `npm start` has that folder: one may not empty it under the other.
 */
export async function openLocalLedger(place: LedgerPlace): Promise<LocalLedger> {
  const { dataDir } = place;
  return dataDir === undefined ? inMemory(place) : inFile({ ...place, dataDir });
}

function inMemory({ whose, clock }: Pick<LedgerPlace, 'whose' | 'clock'>): LocalLedger {
  const stream = memoryStream();
  const table = new MemoryTable({ onWritten: stream.push });
  return {
    ...ledgerIn(table, whose([]).instance, clock),
    stream: stream.read,
    description: 'in memory, forgotten at the end (--memory)',
    stop: () => {},
  };
}

async function inFile(place: LedgerPlace & { readonly dataDir: string }): Promise<LocalLedger> {
  const { whose, dataDir, fresh, clock } = place;
  const { table, close } = openOwn(dataDir, fresh);
  try {
    table.collectGarbage(clock.nowMs());
    return {
      ...ledgerIn(table, await rememberedName(table, whose), clock),
      stream: (signal) => table.stream(signal, () => clock.sleep(STREAM_PAUSE_MS)),
      description: `kept in ${dataDir.split('/').at(-2)}/ (start over with --fresh)`,
      stop: close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

function ledgerIn(
  table: ItemTable,
  instance: string,
  clock: LedgerClock,
): Omit<LocalLedger, 'stream' | 'description' | 'stop'> {
  const parts = { table, instance, clock, random: Math.random };
  const { store, onWritten, quiet } = notifyingStore(new DynamoStore(parts));
  return {
    ledger: createLedger({ store, clock }),
    store,
    onWritten,
    quiet,
    usage: new DynamoRollupStore(parts),
    sessions: dynamoSessionStore(parts),
    chain: dynamoStatementChain(parts),
    sheets: dynamoSheetStore(parts),
    recounts: dynamoRecountOutcomes(parts),
    keys: ledgerKeys(instance),
    instance,
    marks: dynamoSweepMarks(parts),
    reported: dynamoReportedEnds(parts),
    limits: new DynamoLimitTable(parts),
  };
}

async function rememberedName(table: ItemTable, whose: LedgerPlace['whose']): Promise<string> {
  const register = dynamoInstanceRegister({ table });
  const known = whose(await register.list());
  await register.remember({ ...known, openedAtMs: Date.now() });
  return known.instance;
}
