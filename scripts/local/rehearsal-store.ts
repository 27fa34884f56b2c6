import {
  type Counter,
  type LedgerStore,
  MemoryStore,
  type ReadOptions,
  type TransactOptions,
  type TransactOutcome,
  type Write,
} from '../../functions/core/ledger/index.ts';
import { type CounterKey, counterName } from '../../policies/claim.ts';

const READ_TIMEOUT_MS = 5_000;

/**
 * A table in memory whose counters begin with what those of another one show: who decides on it decides as on the other,
 * and writes nothing there.
 */
export class RehearsalStore extends MemoryStore {
  readonly #below: Pick<LedgerStore, 'readCounters'>;
  readonly #known = new Set<string>();

  constructor(below: Pick<LedgerStore, 'readCounters'>) {
    super({ instance: 'rehearsal' });
    this.#below = below;
  }

  override async transact(writes: readonly Write[], options: TransactOptions): Promise<TransactOutcome> {
    await this.#learn(writes.flatMap((write) => (write.kind === 'counter' ? [write.key] : [])));
    return super.transact(writes, options);
  }

  override async readCounters(
    keys: readonly CounterKey[],
    options: ReadOptions,
  ): Promise<readonly (Counter | undefined)[]> {
    await this.#learn(keys);
    return super.readCounters(keys, options);
  }

  async #learn(keys: readonly CounterKey[]): Promise<void> {
    const unknown = keys.filter((key) => !this.#known.has(counterName(key)));
    if (unknown.length === 0) return;
    const counters = await this.#below.readCounters(unknown, { timeoutMs: READ_TIMEOUT_MS });
    for (const key of unknown) this.#known.add(counterName(key));
    const writes = counters.flatMap((counter): readonly Write[] =>
      counter === undefined ? [] : [{ kind: 'counter', ...counter }],
    );
    if (writes.length === 0) return;
    await super.transact(writes, { token: `learned ${this.#known.size}`, timeoutMs: READ_TIMEOUT_MS });
  }
}
