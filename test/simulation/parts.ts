/** The product's parts of a simulation. A test replaces one by a broken one, to see that the simulation notices. */
import type { Rules } from '../../functions/core/admission/judge.ts';
import type { LedgerClock } from '../../functions/core/environment/environment.ts';
import type { Ledger } from '../../functions/core/ledger/ledger.ts';
import type { LedgerStore } from '../../functions/core/ledger/store.ts';
import type { RollupStore } from '../../functions/core/usage/rollup-store.ts';
import { WaitQueue, type WaitQueueOptions } from '../../relay/wait-queue.ts';

export interface Parts {
  readonly rules: (rules: Rules) => Rules;
  readonly ledger: (ledger: Ledger, clock: LedgerClock) => Ledger;
  readonly table: (table: LedgerStore) => LedgerStore;
  readonly rollupTable: (table: RollupStore) => RollupStore;
  readonly waiting: (options: WaitQueueOptions) => WaitQueue;
}

export const PRODUCT: Parts = {
  rules: (rules) => rules,
  ledger: (ledger) => ledger,
  table: (table) => table,
  rollupTable: (table) => table,
  waiting: (options) => new WaitQueue(options),
};

/** The same object with some members replaced. */
export const but = <T extends object>(original: T, other: Partial<T>): T =>
  new Proxy(original, {
    get: (target, name) => {
      const value = Reflect.get(name in other ? other : target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
