import { type LedgerClock, systemClock } from '../../functions/core/environment/environment.ts';
import {
  dynamoRecountOutcomes,
  dynamoReportedEnds,
  dynamoSweepCheckpoints,
} from '../../functions/core/ledger/checkpoints.ts';
import { createLedger } from '../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../functions/core/ledger/dynamo-store.ts';
import { dynamoInstanceRegister, type KnownInstance } from '../../functions/core/ledger/instances.ts';
import { DynamoLimitTable } from '../../functions/core/limits/limit-table.ts';
import { dynamoSheetStore } from '../../functions/core/sheets/sheet-store.ts';
import { dynamoSessionStore } from '../../functions/core/signin/dynamo-session-store.ts';
import { dynamoStatementChain } from '../../functions/core/statements/closed-statement.ts';
import { ledgerKeys } from '../../functions/core/store/keys.ts';
import { DynamoRollupStore } from '../../functions/core/usage/rollup-store.ts';
import { openOwnTable } from './ledger-folder.ts';
import { SqliteTable } from './sqlite-table.ts';

export type LocalLedger = Awaited<ReturnType<typeof openLocalLedger>>;

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

export async function openLocalLedger({ whose, dataDir, fresh, clock }: LedgerPlace) {
  const { table, close } = dataDir === undefined ? inMemory() : openOwnTable(dataDir, fresh);
  try {
    table.collectGarbage(clock.nowMs());
    const register = dynamoInstanceRegister({ table });
    const known = whose(await register.list());
    await register.remember({ ...known, openedAtMs: Date.now() });
    const { instance } = known;
    const parts = { table, instance, clock, random: Math.random };
    const store = new DynamoStore(parts);
    return {
      ...{ instance, store, keys: ledgerKeys(instance), ledger: createLedger({ store, clock }) },
      usage: new DynamoRollupStore(parts),
      sessions: dynamoSessionStore(parts),
      chain: dynamoStatementChain(parts),
      sheets: dynamoSheetStore(parts),
      recounts: dynamoRecountOutcomes(parts),
      marks: dynamoSweepCheckpoints(parts),
      reported: dynamoReportedEnds(parts),
      limits: new DynamoLimitTable(parts),
      /** The table's stream from now on. After the signal it yields what is already written, then ends. */
      stream: (signal: AbortSignal) => table.stream(signal, () => clock.sleep(STREAM_PAUSE_MS)),
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
