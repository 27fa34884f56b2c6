import type { Item, ItemChange } from '../../functions/core/store/index.ts';
import type { TableStreamRecord } from '../../functions/settle/consume.ts';

/** As many as Lambda hands over at once by default. */
export const BATCH_RECORDS_MAX = 100;

/** With both images, as the table's stream has them. */
export interface ItemChangeRecord extends TableStreamRecord {
  readonly dynamodb: {
    readonly SequenceNumber: string;
    readonly OldImage?: Item;
    readonly NewImage?: Item;
  };
}

/** Batches of a stream for one reader, never empty; they end when the signal says so. */
export class StreamReader {
  readonly #take: () => readonly ItemChangeRecord[];
  readonly #signal: AbortSignal;
  #wake = (): void => {};

  /** @param take - what is new since it was last asked, in order; a batch at most. */
  constructor(take: () => readonly ItemChangeRecord[], signal: AbortSignal) {
    this.#take = take;
    this.#signal = signal;
    signal.addEventListener('abort', () => this.wake(), { once: true });
  }

  /** There may be something new. */
  wake(): void {
    this.#wake();
  }

  async *batches(): AsyncGenerator<readonly ItemChangeRecord[]> {
    while (!this.#signal.aborted) {
      const batch = this.#take();
      if (batch.length > 0) yield batch;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

/** A change as DynamoDB's stream tells it. */
export const streamRecord = ({ before, after }: ItemChange, sequence: number): ItemChangeRecord => ({
  eventName: after === undefined ? 'REMOVE' : before === undefined ? 'INSERT' : 'MODIFY',
  dynamodb: {
    SequenceNumber: String(sequence),
    ...(before && { OldImage: before }),
    ...(after && { NewImage: after }),
  },
});
