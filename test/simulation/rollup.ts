/** The table's stream on its way to the rollup: in batches, some delivered twice, some failing half way. */
import { type LedgerClock, silentLog } from '../../functions/core/environment/environment.ts';
import { recordItem } from '../../functions/core/ledger/items.ts';
import type { JobRecord } from '../../functions/core/ledger/ledger.ts';
import type { LedgerKeys } from '../../functions/core/store/keys.ts';
import { placeRecords } from '../../functions/core/usage/contribution.ts';
import { rollUp } from '../../functions/core/usage/roll-up.ts';
import type { RollupStore } from '../../functions/core/usage/rollup-store.ts';
import { usageOf } from '../../functions/core/usage/usage.ts';
import type { Directory } from '../../policies/directory.ts';
import { MemoryRollupStore, type RollupFault } from '../support/ledger/memory-rollup-store.ts';
import { type Findings, must } from './findings.ts';
import { type DecidedJob, type UsageLine, usageLines } from './rulebook/charges.ts';

interface RollupOptions {
  readonly instance: string;
  readonly keys: LedgerKeys;
  readonly zone: string;
  readonly directory: () => Directory | undefined;
  readonly clock: LedgerClock;
  readonly random: () => number;
  readonly fault: () => RollupFault | undefined;
  readonly table: (table: RollupStore) => RollupStore;
}

export class Rollup {
  readonly #options: RollupOptions;
  readonly #store: MemoryRollupStore;
  readonly #table: RollupStore;
  readonly #images: JobRecord[] = [];
  #position = 0;

  constructor(options: RollupOptions) {
    this.#options = options;
    this.#store = new MemoryRollupStore({ instance: options.instance, fault: options.fault });
    this.#table = options.table(this.#store);
  }

  wrote(record: JobRecord): void {
    this.#images.push(record);
  }

  get waiting(): number {
    return this.#images.length - this.#position;
  }

  async deliver(count: number): Promise<void> {
    const until = Math.min(this.#images.length, this.#position + count);
    while (this.#position < until) {
      const failed = await this.#rollUp(this.#position, until);
      this.#position = failed ?? until;
    }
  }

  async repeat(from: number, count: number): Promise<void> {
    await this.#rollUp(from, Math.min(this.#position, from + count));
  }

  get position(): number {
    return this.#position;
  }

  compare(jobs: Iterable<DecidedJob>, findings: Findings): void {
    const shown = new Map([...this.#store.usage()].map(([name, tally]) => [name, usageOf(tally)]));
    for (const [name, line] of usageLines(jobs, this.#options.zone)) {
      const usage = shown.get(name);
      shown.delete(name);
      const counts = Object.keys(line) as (keyof UsageLine)[];
      const found = counts.map((each) => usage?.[each] ?? 0);
      const wanted = counts.map((each) => line[each]);
      findings.compare('usage', () =>
        must(`${found}` === `${wanted}`, `usage of ${name} is ${found}, expected ${wanted} (${counts})`),
      );
    }
    for (const name of shown.keys())
      findings.compare('usage', () => must(false, `usage of ${name} belongs to no job`));
  }

  async #rollUp(from: number, until: number): Promise<number | undefined> {
    const { keys, clock, random, directory, zone } = this.#options;
    const Records = this.#images.slice(from, until).map((record, index) => ({
      eventName: 'MODIFY',
      dynamodb: { SequenceNumber: String(from + index), NewImage: recordItem(record, keys) },
    }));
    const { batchItemFailures } = await rollUp(
      { Records },
      {
        ...{ store: this.#table, keys, random, log: silentLog, placeOf: placeRecords(directory(), zone) },
        clock: { nowMs: () => clock.nowMs(), sleep: async () => {} },
      },
    );
    const failed = batchItemFailures.map(({ itemIdentifier }) => Number(itemIdentifier));
    return failed.length === 0 ? undefined : Math.min(...failed);
  }
}
