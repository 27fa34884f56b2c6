/** The table's stream as settlement reads it: in order, and again from the first that failed. */
import { inboxItem } from '../../functions/core/ledger/items.ts';
import type { InboxItem } from '../../functions/core/ledger/store.ts';
import type { LedgerKeys } from '../../functions/core/store/keys.ts';
import { parseHintText } from '../../functions/core/truth/webhook-hints.ts';
import type { TableStreamRecord, TableStreamResponse } from '../../functions/settle/consume.ts';

export class Streams {
  readonly #keys: LedgerKeys;
  readonly #records: TableStreamRecord[] = [];
  readonly #jobIds: number[] = [];
  #position = 0;

  constructor(keys: LedgerKeys) {
    this.#keys = keys;
  }

  received(item: InboxItem): void {
    const NewImage = inboxItem(item, this.#keys);
    const SequenceNumber = String(this.#records.length);
    this.#jobIds.push(parseHintText(item.body)?.truth.jobId ?? 0);
    this.#records.push({ eventName: 'INSERT', dynamodb: { SequenceNumber, NewImage } });
  }

  get isRead(): boolean {
    return this.#position >= this.#records.length;
  }

  next(count: number): readonly TableStreamRecord[] {
    return this.#records.slice(this.#position, this.#position + count);
  }

  /**
   * A reader that died has answered nothing: the same batch comes again.
   * @returns the jobs whose ends are read for good.
   */
  answered(
    batch: readonly TableStreamRecord[],
    { batchItemFailures }: TableStreamResponse,
  ): ReadonlySet<number> {
    const failed = batchItemFailures.map(({ itemIdentifier }) => Number(itemIdentifier));
    const first = Number(batch[0]?.dynamodb?.SequenceNumber ?? this.#position);
    const until = Math.min(first + batch.length, ...failed);
    this.#position = Math.max(this.#position, until);
    return new Set(this.#jobIds.slice(first, until));
  }
}
