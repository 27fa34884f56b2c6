/** The table's stream on its way to the rollup: in batches, some of them delivered twice, some failing half way. */

import { type LedgerClock, silentLog } from '../../../functions/core/environment/index.ts';
import { type JobRecord, recordItem } from '../../../functions/core/ledger/index.ts';
import type { LedgerKeys } from '../../../functions/core/store/index.ts';
import {
  MemoryRollupStore,
  placeBy,
  type RollupFault,
  type RollupStore,
  rollUp,
  usageOf,
} from '../../../functions/core/usage/index.ts';
import type { ExpectedJob } from './expected/books.ts';
import { type UsageLine, usageLines } from './expected/usage-lines.ts';
import type { Findings } from './findings.ts';
import type { EditionInForce } from './in-force.ts';
import { STREAM, ZONE } from './workload.ts';

interface MonthStreamDeps {
  readonly instance: string;
  readonly keys: LedgerKeys;
  readonly inForce: EditionInForce;
  readonly clock: LedgerClock;
  /** [0, 1) */
  readonly random: () => number;
  readonly table: (table: RollupStore) => RollupStore;
}

export class MonthStream {
  readonly #deps: MonthStreamDeps;
  readonly #store: MemoryRollupStore;
  readonly #seen: RollupStore;
  readonly #images: JobRecord[] = [];
  #told = 0;
  /** Batches that were delivered once more, in full. */
  repeated = 0;
  /** Batches of which something had to come again. */
  failed = 0;

  constructor(deps: MonthStreamDeps) {
    this.#deps = deps;
    this.#store = new MemoryRollupStore({ instance: deps.instance, fault: () => this.#fault() });
    this.#seen = deps.table(this.#store);
  }

  wrote(record: JobRecord): void {
    this.#images.push(record);
  }

  /** What has gathered, batch by batch; at the end of the month whatever is left. */
  async deliver(least: number = STREAM.batchImages): Promise<void> {
    while (this.#images.length >= Math.max(1, least)) {
      const batch = this.#images.splice(0, STREAM.batchImages);
      const failedFrom = await this.#rollUp(batch);
      // As the event source does: again from the first that failed on.
      if (failedFrom !== undefined) {
        this.failed += 1;
        this.#images.unshift(...batch.slice(failedFrom));
      } else if (this.#deps.random() < STREAM.repeated) {
        this.repeated += 1;
        await this.#rollUp(batch);
      }
    }
  }

  /** Every line of usage against what the jobs come to, and none beside. */
  compare(jobs: Iterable<ExpectedJob>, findings: Findings): void {
    const shown = new Map([...this.#store.usage()].map(([name, tally]) => [name, usageOf(tally)]));
    for (const [name, line] of usageLines(jobs, ZONE)) {
      const usage = shown.get(name);
      shown.delete(name);
      const found = COUNTS.map((each) => usage?.[each] ?? 0);
      const wanted = COUNTS.map((each) => line[each]);
      const isSame = found.every((each, index) => each === wanted[index]);
      const text = `usage of ${name} is ${found}, expected ${wanted} (${COUNTS})`;
      findings.compared('usage', isSame ? undefined : text);
    }
    for (const name of shown.keys()) findings.compared('usage', `usage of ${name} is of no job`);
  }

  async #rollUp(batch: readonly JobRecord[]): Promise<number | undefined> {
    const { keys, inForce, clock, random } = this.#deps;
    const Records = batch.map((record) => {
      this.#told += 1;
      const dynamodb = { SequenceNumber: String(this.#told), NewImage: recordItem(record, keys) };
      return { eventName: 'MODIFY', dynamodb };
    });
    const { batchItemFailures } = await rollUp(
      { Records },
      {
        store: this.#seen,
        keys,
        // Nobody waits for the rollup, so its pauses are not the month's.
        clock: { nowMs: () => clock.nowMs(), sleep: async () => {} },
        random,
        placeOf: placeBy(inForce.now.rules.directory, ZONE),
        log: silentLog,
      },
    );
    const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    const first = Records.findIndex(({ dynamodb }) => failed.has(dynamodb.SequenceNumber));
    return first < 0 ? undefined : first;
  }

  #fault(): RollupFault | undefined {
    const share = this.#deps.random();
    if (share < STREAM.contended) return 'contended';
    if (share < STREAM.contended + STREAM.lost) return 'lost-before';
    return share < STREAM.contended + 2 * STREAM.lost ? 'lost-after' : undefined;
  }
}

const COUNTS = [
  'jobs',
  'admitted',
  'rejected',
  'released',
  'expired',
  'seconds',
  'settledMicros',
  'heldMicros',
  'exempt',
  'unmetered',
  'bypass',
] as const satisfies readonly (keyof UsageLine)[];
