/**
 * Where a month takes the product's own parts. A test puts a broken one in the place of one of them, to see that the month
 * notices.
 */
import type { Rules } from '../../../functions/core/admission/index.ts';
import type { LedgerClock } from '../../../functions/core/environment/index.ts';
import type { Ledger, LedgerStore } from '../../../functions/core/ledger/index.ts';
import type { RollupStore } from '../../../functions/core/usage/index.ts';
import { WaitQueue, type WaitQueueOptions } from '../../../relay/waiting/wait-queue.ts';

export interface Parts {
  /** Wraps those of every decision and every late charge. */
  readonly rules: (rules: Rules) => Rules;
  /** Wraps every process's ledger. */
  readonly ledger: (ledger: Ledger, clock: LedgerClock) => Ledger;
  /** Wraps the table as the ledger sees it: what is written is watched behind it. */
  readonly table: (table: LedgerStore) => LedgerStore;
  readonly rollupTable: (table: RollupStore) => RollupStore;
  /** Makes the queue of each relay in which jobs wait for room. */
  readonly waiting: (deps: WaitQueueOptions) => WaitQueue;
}

export const PRODUCT: Parts = {
  rules: (rules) => rules,
  ledger: (ledger) => ledger,
  table: (table) => table,
  rollupTable: (table) => table,
  waiting: (deps) => new WaitQueue(deps),
};
