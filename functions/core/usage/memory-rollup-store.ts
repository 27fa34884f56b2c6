/** The rollup's store on a table in memory, with the faults a real one has. */

import { systemClock } from '../environment/index.ts';
import { keyOf, LedgerError, MemoryTable, unescapePart } from '../store/index.ts';
import { DynamoRollupStore } from './dynamo-rollup-store.ts';
import { decodeTally, rollupKeys } from './rollup-item.ts';
import type { RollupWrites } from './rollup-store.ts';
import type { UsageTally } from './tally.ts';
import { usageName } from './usage.ts';

/** `lost-before`: never applied; `lost-after`: applied, and the answer is lost. */
export type RollupFault = 'contended' | 'lost-before' | 'lost-after';

export class MemoryRollupStore extends DynamoRollupStore {
  readonly #fault: () => RollupFault | undefined;
  readonly #table: MemoryTable;
  readonly #usagePrefix: string;

  /** @param options.fault - asked once per commit. */
  constructor({
    instance,
    fault,
  }: { readonly instance: string; readonly fault?: () => RollupFault | undefined }) {
    const table = new MemoryTable();
    super({ table, instance, clock: systemClock, random: () => 0 });
    this.#table = table;
    this.#usagePrefix = rollupKeys(instance).usage({ subject: '', day: '' }).pk.slice(0, -1);
    this.#fault = fault ?? (() => undefined);
  }

  override async commit(writes: RollupWrites): Promise<'committed' | 'contended'> {
    const fault = this.#fault();
    if (fault === 'contended') return 'contended';
    if (fault === 'lost-before') throw lost();
    const outcome = await super.commit(writes);
    if (fault === 'lost-after') throw lost();
    return outcome;
  }

  /** Everything counted, by `usageName`; what came to nothing is left out. */
  usage(): ReadonlyMap<string, UsageTally> {
    return new Map(
      this.#table.items().flatMap((item) => {
        const { pk } = keyOf(item);
        if (!pk.startsWith(this.#usagePrefix)) return [];
        const path = pk.slice(this.#usagePrefix.length);
        const end = path.lastIndexOf('|');
        const key = { subject: unescapePart(path.slice(0, end)), day: path.slice(end + 1) };
        const tally = decodeTally(item);
        return tally.size === 0 ? [] : [[usageName(key), tally] as const];
      }),
    );
  }
}

const lost = (): LedgerError =>
  new LedgerError('ledger_unavailable', 'commit: no answer from the in-memory rollup (injected fault)');
