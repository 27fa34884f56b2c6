/**
 * Delivers the fallback's decisions to the ledger.
 *
 * 1. A decision waits in one queue in memory, oldest first. Beyond the queue's bound the oldest are lost.
 * 2. A batch goes to the function. If the function cannot be reached, the batch goes into the journal in the table.
 * 3. If neither takes the batch, it returns to the front of the queue, and deliveries pause, longer each time.
 * 4. A relay that stops tries the journal first, until the time of `flush` is over. The rest is lost.
 *
 * Every decision is counted once: as posted, journaled or lost. The queue dies with a killed relay: the ends of those jobs, or
 * the sweep, then charge them as bypass.
 */
import {
  BATCH_BYTES_MAX,
  REQUESTS_MAX,
  type UnmeteredAnswer,
} from '../../functions/core/contract/admissions.ts';
import type { Forwarder, UnmeteredOutcome } from '../admit/forward.ts';
import type { WriteJournal } from '../aws/aws-json.ts';
import type { EventOf, RelayObserver, UnmeteredLoss } from '../events.ts';
import { pauseMs, type RelayClock } from '../exchange.ts';

/** An hour of three fallback decisions a second, some 20 MB. */
const ANSWERS_MAX = 10_000;
/** Decisions of jobs with long variables reach this first; a relay has 512 MB. */
const BYTES_MAX = 64 * 1024 * 1024;
const GATHER_MS = 1_000;
/** The function gives itself 5 s, and its answer must arrive. */
const POST_TIMEOUT_MS = 7_000;
const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 60_000;
/** While the relay stops there is no later: short pauses, and no post that hangs for long. */
const LEAVING = { retryMs: 250, timeoutMs: 3_000 } as const;
/** A function may refuse one decision this often: with pauses some minutes, in which a deployment is over. */
export const REFUSALS_MAX = 8;
/** A refusal halves the batch; each batch that is taken lets the next one grow by this. */
const BATCH_GROWTH = 8;
const LOST_NAMED_MAX = 100;

interface Undelivered {
  readonly jobId: number;
  readonly json: string;
  readonly bytes: number;
  refusals: number;
}

type Batch = readonly Undelivered[];

export type UnmeteredAnswers = ReturnType<typeof createUnmetered>;

export function createUnmetered(options: {
  readonly post: Forwarder['postUnmetered'];
  readonly writeJournal?: WriteJournal | undefined;
  readonly notWritten?: (error: unknown) => void;
  readonly clock: RelayClock;
  readonly random: () => number;
  readonly observe: RelayObserver;
  readonly capacity?: number;
}) {
  const { clock, capacity = ANSWERS_MAX } = options;
  let state: 'open' | 'leaving' | 'closed' = 'open';
  let queue: Undelivered[] = [];
  let queueBytes = 0;
  let sending: Batch = [];
  let cancelNext: (() => void) | undefined;
  let whenIdle = (): void => {};
  let stopWaiting = (): void => {};
  let failures = 0;
  let batchMax = REQUESTS_MAX;

  const queued = (): number => queue.length + sending.length;

  function add(answer: UnmeteredAnswer): void {
    const json = JSON.stringify(answer);
    const entry = { jobId: answer.request.jobId, json, bytes: Buffer.byteLength(json), refusals: 0 };
    if (state === 'closed') {
      lose([entry], 'stopping');
      return;
    }
    queue.push(entry);
    queueBytes += entry.bytes;
    if (!shed()) count({});
    plan(state === 'leaving' ? 0 : GATHER_MS);
  }

  function putBack(batch: Batch, where: 'first' | 'last'): void {
    queue = where === 'first' ? [...batch, ...queue] : [...queue, ...batch];
    for (const { bytes } of batch) queueBytes += bytes;
    shed();
  }

  /** The newest are worth more: their jobs still run. Returns true if any had to go. */
  function shed(): boolean {
    const lost: Undelivered[] = [];
    while (queue.length > capacity || queueBytes > BYTES_MAX) {
      const oldest = queue.shift();
      if (oldest === undefined) break;
      queueBytes -= oldest.bytes;
      lost.push(oldest);
    }
    lose(lost, 'queue_full');
    return lost.length > 0;
  }

  /** Takes the oldest: about different jobs, within the contract's bytes; one always fits. */
  function take(): Batch {
    const batch = new Map<number, Undelivered>();
    let bytes = 0;
    for (const entry of queue) {
      if (batch.size === batchMax) break;
      if (batch.has(entry.jobId)) continue;
      if (batch.size > 0 && bytes + entry.bytes > BATCH_BYTES_MAX) break;
      batch.set(entry.jobId, entry);
      bytes += entry.bytes;
    }
    queue = queue.filter((entry) => batch.get(entry.jobId) !== entry);
    queueBytes -= bytes;
    return [...batch.values()];
  }

  function plan(delayMs: number): void {
    if (cancelNext !== undefined || sending.length > 0 || state === 'closed') return;
    cancelNext = clock.after(delayMs, () => {
      cancelNext = undefined;
      void deliverAll();
    });
  }

  /** Batch after batch, until the queue is empty or a delivery makes no progress. Never throws. */
  async function deliverAll(): Promise<void> {
    let makesProgress = true;
    while (makesProgress && queue.length > 0) {
      const batch = take();
      sending = batch;
      const outcome = await send(batch);
      if (state === 'closed') return;
      sending = [];
      makesProgress = onOutcome(batch, outcome);
    }
    if (queue.length === 0) whenIdle();
    else plan(backoffMs());
  }

  async function send(batch: Batch): Promise<UnmeteredOutcome | { readonly kind: 'journaled' }> {
    const leaving = state === 'leaving';
    // The table is quicker than the function.
    if (leaving && (await writeToJournal(batch))) return { kind: 'journaled' };
    const timeoutMs = leaving ? LEAVING.timeoutMs : POST_TIMEOUT_MS;
    // A relay that stops has less time than a post that hangs.
    const left = new Promise<UnmeteredOutcome>((resolve) => {
      stopWaiting = () => resolve({ kind: 'unreachable' });
    });
    const outcome = await Promise.race([options.post(batch, { timeoutMs, now: leaving }), left]);
    const isUnavailable = outcome.kind === 'unreachable' || (outcome.kind === 'refused' && !outcome.content);
    return isUnavailable && !leaving && (await writeToJournal(batch)) ? { kind: 'journaled' } : outcome;
  }

  async function writeToJournal(batch: Batch): Promise<boolean> {
    if (options.writeJournal === undefined) return false;
    try {
      await options.writeJournal(`{"answers":[${batch.map(({ json }) => json).join(',')}]}`);
      return true;
    } catch (error) {
      options.notWritten?.(error);
      return false;
    }
  }

  function onOutcome(batch: Batch, outcome: Awaited<ReturnType<typeof send>>): boolean {
    if (outcome.kind === 'journaled') {
      failures = 0;
      count({ journaled: batch.length });
      return true;
    }
    if (outcome.kind === 'reported') return onReport(batch, outcome.outcomes);
    const isAboutContent = outcome.kind === 'refused' && outcome.content;
    if (isAboutContent && batch.length > 1) {
      // One of the batch is at fault, or the batch is too large for a part between here and the function.
      batchMax = Math.ceil(batch.length / 2);
      putBack(batch, 'first');
      return true;
    }
    failures += 1;
    if (isAboutContent) refused(batch);
    else putBack(batch, 'first');
    return false;
  }

  function onReport(
    batch: Batch,
    outcomes: Extract<UnmeteredOutcome, { kind: 'reported' }>['outcomes'],
  ): boolean {
    batchMax = Math.min(REQUESTS_MAX, batchMax + BATCH_GROWTH);
    const byOutcome = Map.groupBy(batch, ({ jobId }) => outcomes.get(jobId) ?? 'undecided');
    const { length: recorded } = byOutcome.get('recorded') ?? [];
    if (recorded > 0) failures = 0;
    const isWhole = recorded === batch.length;
    if (!isWhole) failures += 1;
    putBack(byOutcome.get('undecided') ?? [], 'last');
    refused(byOutcome.get('invalid') ?? []);
    count({ posted: recorded });
    return isWhole;
  }

  /** Behind the others, so that they hold up no other decision. */
  function refused(batch: Batch): void {
    for (const entry of batch) entry.refusals += 1;
    lose(
      batch.filter(({ refusals }) => refusals >= REFUSALS_MAX),
      'refused',
    );
    putBack(
      batch.filter(({ refusals }) => refusals < REFUSALS_MAX),
      'last',
    );
  }

  function backoffMs(): number {
    if (state === 'leaving') return LEAVING.retryMs;
    return pauseMs(failures, RETRY_MS_MIN, RETRY_MS_MAX, options.random());
  }

  function leave(): void {
    if (state !== 'open') return;
    state = 'leaving';
    stopWaiting();
    cancelNext?.();
    cancelNext = undefined;
    if (queue.length > 0) plan(0);
  }

  async function flush(withinMs: number): Promise<void> {
    leave();
    if (queued() > 0) {
      let cancelWait = (): void => {};
      await new Promise<void>((resolve) => {
        cancelWait = clock.after(withinMs, resolve);
        whenIdle = resolve;
      });
      cancelWait();
    }
    state = 'closed';
    cancelNext?.();
    // It will not be known if those on their way arrived.
    const rest = [...sending, ...queue];
    sending = [];
    queue = [];
    lose(rest, 'stopping');
  }

  function lose(lost: Batch, why: UnmeteredLoss): void {
    if (lost.length === 0) return;
    const jobIds = lost.slice(0, LOST_NAMED_MAX).map(({ jobId }) => jobId);
    count({ dropped: lost.length, lost: { why, jobIds } });
  }

  function count(what: Partial<EventOf<'unmetered'>>): void {
    options.observe({ type: 'unmetered', queued: queued(), posted: 0, dropped: 0, ...what });
  }

  return {
    add,
    leave,
    flush,
    get queued() {
      return queued();
    },
  };
}
