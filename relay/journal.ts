/**
 * Fallback answers that the function cannot be told of are written into the table by the relay itself; the stream that
 * settles jobs books them. One item holds a whole batch. What comes twice is booked once.
 */
import { randomUUID } from 'node:crypto';
import { INBOX_SK, JOURNAL_PK_PREFIX, PK, SK, TTL_ATTRIBUTE } from '../functions/names.ts';
import { putByHand, type RelayTable } from './aws/put-by-hand.ts';
import type { RelayClock } from './exchange.ts';
import type { Forwarder, UnmeteredOutcome, UnmeteredPost } from './forward.ts';

/** A write takes a few milliseconds. While the relay stops, the function has to be asked within the same two seconds. */
const TIMEOUT_MS = 1_000;
/** As long as letters of the stream that books it lie with the dead. */
const KEPT_SECONDS = 14 * 24 * 3_600;
/** The stream books an item within seconds; a room told in that time does not know of its jobs. */
const BOOKED_AFTER_MS = 60_000;

interface JournalTable extends RelayTable {
  readonly nowMs: () => number;
}

/** Writes one batch down: `{"answers": […]}`. Rejects when the table did not take it. */
export type WriteJournal = (body: string) => Promise<void>;

export function journalWriter(journal: JournalTable): WriteJournal {
  const { instance, nowMs } = journal;
  return async (body) => {
    const atMs = nowMs();
    const item = {
      [PK]: { S: `${instance}${JOURNAL_PK_PREFIX}${randomUUID()}` },
      [SK]: { S: INBOX_SK },
      b: { S: body },
      at: { N: String(atMs) },
      [TTL_ATTRIBUTE]: { N: String(Math.ceil(atMs / 1_000) + KEPT_SECONDS) },
    };
    await putByHand(journal, item, TIMEOUT_MS);
  };
}

interface JournalDeps {
  readonly post: Forwarder['postUnmetered'];
  readonly write: WriteJournal;
  readonly clock: Pick<RelayClock, 'monotonicMs'>;
  /** Told of each batch that the table did not take. */
  readonly failed?: (error: unknown) => void;
}

/** The function is told where it can be, else the journal. A relay that stops writes first: the table is quicker. */
export class Journal {
  readonly #deps: JournalDeps;
  #writtenMs = Number.NEGATIVE_INFINITY;

  constructor(deps: JournalDeps) {
    this.#deps = deps;
  }

  /** Whether all that was written must be booked by now. */
  get isBooked(): boolean {
    return this.#deps.clock.monotonicMs() - this.#writtenMs >= BOOKED_AFTER_MS;
  }

  readonly post: Forwarder['postUnmetered'] = async (answers, options) => {
    const { post } = this.#deps;
    if (options.now === true) return (await this.#write(answers)) ?? post(answers, options);
    const told = await post(answers, options);
    if (told.kind === 'told' || (told.kind === 'refused' && told.content)) return told;
    return (await this.#write(answers)) ?? told;
  };

  async #write(answers: readonly UnmeteredPost[]): Promise<UnmeteredOutcome | undefined> {
    try {
      await this.#deps.write(`{"answers":[${answers.map(({ json }) => json).join(',')}]}`);
    } catch (error) {
      this.#deps.failed?.(error);
      // They stay in the queue, which tries the function and the table again.
      return undefined;
    }
    this.#writtenMs = this.#deps.clock.monotonicMs();
    const outcomes = new Map(answers.map(({ jobId }) => [jobId, 'recorded'] as const));
    return { kind: 'told', outcomes, journaled: true };
  }
}
