import { systemClock } from '../../../functions/core/environment/environment.ts';
import { unescapePart } from '../../../functions/core/store/keys.ts';
import { MemoryTable } from '../../../functions/core/store/memory-table.ts';
import { keyOf } from '../../../functions/core/store/operation.ts';
import { LedgerError } from '../../../functions/core/store/table-failure.ts';
import { DynamoRollupStore, type RollupWrites } from '../../../functions/core/usage/rollup-store.ts';
import { isTallyName, type UsageTally } from '../../../functions/core/usage/usage.ts';

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
    this.#usagePrefix = `${instance}#usage#`;
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
        const counts = Object.entries(item).filter(([name, { N }]) => isTallyName(name) && Number(N) !== 0);
        const tally = new Map(counts.map(([name, { N }]) => [name, Number(N)]));
        return tally.size === 0 ? [] : [[unescapePart(path.slice(0, end)) + path.slice(end), tally] as const];
      }),
    );
  }
}

const lost = (): LedgerError =>
  new LedgerError('ledger_unavailable', 'commit: no answer from the in-memory rollup (injected fault)');
