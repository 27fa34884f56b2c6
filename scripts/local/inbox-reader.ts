/** The stream's reader of job ends, as Lambda would run it: batch after batch, a failed one again, a few times. */
import { inboxBody } from '../../functions/core/ledger/index.ts';
import { type ConsumeDeps, consume, type TableStreamRecord } from '../../functions/settle/consume.ts';

interface InboxReader {
  /** Inbox items read so far, whatever became of them. */
  readonly items: () => number;
  /** Resolves when the stream has ended and its last batch is worked off. */
  readonly ended: Promise<void>;
}

/** What fails more often is left to the sweep. */
const TRIES_MAX = 3;
const PAUSE_MS = 200;

/** @param onTrouble told in a sentence what could not be read or settled. */
export function readInbox(
  stream: AsyncIterable<readonly TableStreamRecord[]>,
  deps: ConsumeDeps & { readonly pause: (delayMs: number) => Promise<void> },
  onTrouble: (text: string) => void,
): InboxReader {
  let items = 0;
  const work = async (Records: readonly TableStreamRecord[]): Promise<void> => {
    for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
      const { batchItemFailures } = await consume({ Records }, deps);
      if (batchItemFailures.length === 0) return;
      await deps.pause(PAUSE_MS);
    }
    onTrouble('ends of jobs that GitLab told are not in the ledger yet; the sweep finds them');
  };
  const readAll = async (): Promise<void> => {
    for await (const records of stream) {
      await work(records);
      items += records.filter((record) => isInbox(record, deps)).length;
    }
  };
  return {
    items: () => items,
    ended: readAll().catch((error: unknown) =>
      onTrouble(`the table's stream is read no more (${String(error)}); the sweep goes on`),
    ),
  };
}

const isInbox = ({ eventName, dynamodb }: TableStreamRecord, { keys }: ConsumeDeps): boolean =>
  eventName === 'INSERT' &&
  dynamodb?.NewImage !== undefined &&
  inboxBody(dynamodb.NewImage, keys) !== undefined;
