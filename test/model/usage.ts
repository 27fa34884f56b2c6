/** The rollup, fed with the images of records as the stream would: in any cuts, and some again. */

import { silentLog } from '../../functions/core/environment/environment.ts';
import { recordItem } from '../../functions/core/ledger/items.ts';
import type { JobRecord } from '../../functions/core/ledger/ledger.ts';
import type { LedgerKeys } from '../../functions/core/store/keys.ts';
import { placeBy } from '../../functions/core/usage/contribution.ts';
import { rollUp } from '../../functions/core/usage/roll-up.ts';
import { MemoryRollupStore } from '../../functions/core/usage/rollup-store.ts';
import type { Directory } from '../../policies/place/directory.ts';
import { INSTANCE } from './places.ts';

export class Usage {
  readonly store = new MemoryRollupStore({ instance: INSTANCE });
  readonly #keys: LedgerKeys;
  readonly #directory: () => Directory | undefined;
  readonly #images: JobRecord[] = [];
  #position = 0;

  constructor(keys: LedgerKeys, directory: () => Directory | undefined) {
    this.#keys = keys;
    this.#directory = directory;
  }

  wrote(record: JobRecord): void {
    this.#images.push(record);
  }

  /** @param again - so many images from before come once more, without those that came after them. */
  async rollUp(count: number, again: number): Promise<void> {
    const until = Math.min(this.#images.length, this.#position + count);
    await this.#deliver(this.#position, until);
    this.#position = until;
    const from = Math.floor(until / 3);
    await this.#deliver(from, Math.min(until, from + again));
  }

  async #deliver(from: number, until: number): Promise<void> {
    const Records = this.#images.slice(from, until).map((record, index) => ({
      eventName: 'MODIFY',
      dynamodb: { SequenceNumber: String(from + index), NewImage: recordItem(record, this.#keys) },
    }));
    await rollUp(
      { Records },
      {
        store: this.store,
        keys: this.#keys,
        clock: { nowMs: () => 0, sleep: async () => {} },
        random: () => 0,
        placeOf: placeBy(this.#directory(), 'UTC'),
        log: silentLog,
      },
    );
  }

  rollUpRest(): Promise<void> {
    return this.rollUp(this.#images.length, 0);
  }
}
