import { type LedgerClock, systemClock } from '../../functions/core/environment/environment.ts';
import {
  dynamoRecountOutcomes,
  dynamoReportedEnds,
  dynamoSweepMarks,
  type RecountOutcomes,
  type ReportedEnds,
  type SweepMarkStore,
} from '../../functions/core/ledger/checkpoints.ts';
import { createLedger } from '../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../functions/core/ledger/dynamo-store.ts';
import { dynamoInstanceRegister, type KnownInstance } from '../../functions/core/ledger/instances.ts';
import type { Ledger } from '../../functions/core/ledger/ledger.ts';
import type { InboxStore, LedgerStore } from '../../functions/core/ledger/store.ts';
import { DynamoLimitTable, type LimitTable } from '../../functions/core/limits/limit-table.ts';
import { dynamoSheetStore, type SheetStore } from '../../functions/core/sheets/sheet-store.ts';
import { dynamoSessionStore } from '../../functions/core/signin/dynamo-session-store.ts';
import type { SessionStore } from '../../functions/core/signin/model.ts';
import {
  dynamoStatementChain,
  type StatementChain,
} from '../../functions/core/statements/closed-statement.ts';
import { type LedgerKeys, ledgerKeys } from '../../functions/core/store/keys.ts';
import type { ItemTable } from '../../functions/core/store/operation.ts';
import { DynamoRollupStore, type RollupStore } from '../../functions/core/usage/rollup-store.ts';
import { openOwn } from './ledger-folder.ts';
import { type ItemChangeRecord, SqliteTable } from './sqlite-table.ts';

export interface LocalLedger {
  readonly ledger: Ledger;
  readonly store: LedgerStore & InboxStore;
  readonly keys: LedgerKeys;
  readonly instance: string;
  readonly marks: SweepMarkStore;
  readonly reported: ReportedEnds;
  readonly limits: LimitTable;
  readonly usage: RollupStore;
  readonly sessions: SessionStore;
  readonly chain: StatementChain;
  readonly recounts: RecountOutcomes;
  readonly sheets: SheetStore;
  /** The table's stream from now on. After the signal it yields what is already written, then ends. */
  stream(signal: AbortSignal): AsyncIterable<readonly ItemChangeRecord[]>;
  readonly description: string;
  stop(): void;
}

interface LedgerPlace {
  /**
   * Chooses the GitLab whose ledger is opened, from those that the folder knows. The folder remembers it.
   * @throws {UsageError} if it cannot choose.
   */
  readonly whose: (known: readonly KnownInstance[]) => Omit<KnownInstance, 'openedAtMs'>;
  readonly dataDir: string | undefined;
  readonly fresh: boolean;
  readonly clock: LedgerClock;
}

const STREAM_PAUSE_MS = 200;

export async function openLocalLedger({ whose, dataDir, fresh, clock }: LedgerPlace): Promise<LocalLedger> {
  const { table, close } = dataDir === undefined ? inMemory() : openOwn(dataDir, fresh);
  try {
    table.collectGarbage(clock.nowMs());
    return {
      ...ledgerIn(table, await rememberedName(table, whose), clock),
      stream: (signal) => table.stream(signal, () => clock.sleep(STREAM_PAUSE_MS)),
      description:
        dataDir === undefined
          ? 'in memory, forgotten at the end (--memory)'
          : `kept in ${dataDir.split('/').at(-2)}/ (start over with --fresh)`,
      stop: close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

function inMemory() {
  const table = new SqliteTable({ file: ':memory:', makes: true, nowMs: systemClock.nowMs });
  return { table, close: () => table.close() };
}

function ledgerIn(
  table: ItemTable,
  instance: string,
  clock: LedgerClock,
): Omit<LocalLedger, 'stream' | 'description' | 'stop'> {
  const parts = { table, instance, clock, random: Math.random };
  const store = new DynamoStore(parts);
  return {
    ledger: createLedger({ store, clock }),
    store,
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
