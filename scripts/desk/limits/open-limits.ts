import { systemClock } from '../../../functions/ledger/system-clock.ts';
import { DynamoLimitTable } from '../../../functions/limits/dynamo-limit-table.ts';
import type { LimitTable } from '../../../functions/limits/limit-table.ts';
import type { DeskIo } from '../command.ts';
import type { LedgerFlags } from '../ledger/ledger-flags.ts';
import { openDeskTable } from '../ledger/open-ledger.ts';

/** Somebody's limit sets. */
export interface DeskLimits {
  readonly table: LimitTable;
  /** For people: `table tollgate-ledger`. */
  readonly description: string;
  readonly close: () => Promise<void>;
}

export type OpenLimits = (flags: LedgerFlags, io: Pick<DeskIo, 'env' | 'root'>) => Promise<DeskLimits>;

/** A flip that the SDK repeats by itself could take its own first try for somebody else's. */
const ATTEMPTS_MAX = 1;

/** The limits beside the ledger that the flags name. @throws like `openDeskLedger` */
export const openDeskLimits: OpenLimits = async (flags, io) => {
  const { client, tableName, instance, description, close } = await openDeskTable(flags, io, ATTEMPTS_MAX);
  const table = new DynamoLimitTable({
    client,
    tableName,
    instance,
    clock: systemClock,
    random: Math.random,
  });
  return { table, description, close };
};

/** Opens, asks, and closes whatever comes of it. */
export async function withLimits<T>(
  open: OpenLimits,
  flags: LedgerFlags,
  io: DeskIo,
  ask: (limits: DeskLimits) => Promise<T>,
): Promise<T> {
  const limits = await open(flags, io);
  try {
    return await ask(limits);
  } finally {
    await limits.close();
  }
}
