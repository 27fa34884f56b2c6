/**
 * Delivers the fallback's decisions to the ledger.
 *
 * 1. A decision waits in one queue in memory, oldest first. Beyond the queue's bound the oldest are lost.
 * 2. A batch goes to the function. If the function cannot be reached, the batch goes into the journal in the table.
 * 3. If neither takes the batch, it returns to the front of the queue, and all deliveries pause, longer each time.
 * 4. A relay that stops tries the journal first, without pauses, until the time of `flush` is over. The rest is lost.
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
import type { RelayObserver, UnmeteredLoss } from '../events.ts';
import type { RelayClock } from '../exchange.ts';

/** An hour of three fallback decisions a second, some 20 MB. */
const ANSWERS_MAX = 10_000;
/** Decisions of jobs with long variables reach this first; a relay has 512 MB. */
const BYTES_MAX = 64 * 1024 * 1024;
/** The first post waits this long, so that one outage makes few batches. */
const GATHER_MS = 1_000;
/** While the relay stops, time is short, and one post that hangs must not hold up the others. */
const POSTS_AT_ONCE = { open: 1, leaving: 4, closed: 0 } as const;
/** The function gives itself 5 s, and its answer must arrive. */
const POST_TIMEOUT_MS = 7_000;
const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 60_000;
/** While the relay stops there is no later: short pauses, and no post that hangs for long. */
const LEAVING = { retryMs: 250, timeoutMs: 3_000 } as const;
/** A function may refuse one decision this often while it takes others: some five minutes, in which a deployment is over. */
export const REFUSALS_MAX = 8;
/** A refusal halves the batch; each batch that is taken lets the next one grow by this. */
const BATCH_GROWTH = 8;
/** The stream books an item of the journal within seconds; headroom reported in that time does not include its jobs. */
const BOOKED_AFTER_MS = 60_000;
/** Job ids in one event: enough to find them, few enough for a line. */
const LOST_NAMED_MAX = 100;

interface UnmeteredOptions {
  readonly post: Forwarder['postUnmetered'];
  /** @default decisions wait for the function alone */
  readonly writeJournal?: WriteJournal | undefined;
  /** Called with the error when the journal did not take a batch. */
  readonly notWritten?: (error: unknown) => void;
  readonly clock: RelayClock;
  readonly random: () => number;
  readonly observe: RelayObserver;
  /** @default ANSWERS_MAX */
  readonly capacity?: number;
}

export interface UnmeteredAnswers {
  add(answer: UnmeteredAnswer): void;
  /** Delivers everything now, even if the breaker is open, because the relay stops. */
  leave(): void;
  /** Waits until all is delivered, at most `withinMs`; the rest is lost. */
  flush(withinMs: number): Promise<void>;
  /** Not delivered yet, those on their way included. */
  readonly queued: number;
  /** Returns true if the ledger has booked everything, and nothing has waited since then (monotonic). */
  isBookedSince(atMs: number): boolean;
}

interface Undelivered {
  readonly jobId: number;
  /** `UnmeteredAnswer`: made once, measured and sent. */
  readonly json: string;
  readonly bytes: number;
  dueMs: number;
  /** Times the ledger was undecided about it. */
  undecided: number;
  /** Times the function refused it and took others. */
  refusals: number;
  /** All that the function had taken when this one was queued or refused last. */
  takenBefore: number;
}

type Batch = readonly Undelivered[];

export function createUnmetered(options: UnmeteredOptions): UnmeteredAnswers {
  const { clock, capacity = ANSWERS_MAX } = options;
  let state: keyof typeof POSTS_AT_ONCE = 'open';
  let queue: Undelivered[] = [];
  let queueBytes = 0;
  const onTheWay = new Set<Undelivered>();
  let deliveries = 0;
  let planned: { readonly atMs: number; readonly cancel: () => void } | undefined;
  let whenIdle = (): void => {};
  let quietUntilMs = Number.NEGATIVE_INFINITY;
  /** Deliveries in a row that neither function nor journal took. */
  let failures = 0;
  let batchMax = REQUESTS_MAX;
  let taken = 0;
  let takenAtRefusal = -1;
  let waitedAtMs = Number.NEGATIVE_INFINITY;
  let journaledAtMs = Number.NEGATIVE_INFINITY;

  const queued = (): number => queue.length + onTheWay.size;

  function add(answer: UnmeteredAnswer): void {
    const json = JSON.stringify(answer);
    const entry: Undelivered = {
      ...{ jobId: answer.request.jobId, json, bytes: Buffer.byteLength(json) },
      ...{ dueMs: Number.NEGATIVE_INFINITY, undecided: 0, refusals: 0, takenBefore: taken },
    };
    if (state === 'closed') {
      lose([entry], 'stopping');
      return;
    }
    queue.push(entry);
    queueBytes += entry.bytes;
    if (!shed()) count({});
    plan(state === 'leaving' ? 0 : GATHER_MS);
  }

  function putBack(batch: Batch): void {
    queue.unshift(...batch);
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

  /** Takes the oldest that are due: about different jobs, within the contract's bytes; one always fits. */
  function take(): Batch {
    const nowMs = clock.monotonicMs();
    const batch = new Map<number, Undelivered>();
    let bytes = 0;
    for (const entry of queue) {
      if (batch.size === batchMax) break;
      if (entry.dueMs > nowMs || batch.has(entry.jobId)) continue;
      if (batch.size > 0 && bytes + entry.bytes > BATCH_BYTES_MAX) break;
      batch.set(entry.jobId, entry);
      bytes += entry.bytes;
    }
    if (batch.size > 0) queue = queue.filter((entry) => batch.get(entry.jobId) !== entry);
    queueBytes -= bytes;
    return [...batch.values()];
  }

  /** The soonest plan counts. */
  function plan(delayMs: number): void {
    if (deliveries >= POSTS_AT_ONCE[state]) return;
    const nowMs = clock.monotonicMs();
    const atMs = Math.max(nowMs + delayMs, quietUntilMs);
    if (planned !== undefined && planned.atMs <= atMs) return;
    planned?.cancel();
    const cancel = clock.after(Math.max(0, atMs - nowMs), () => {
      planned = undefined;
      while (deliveries < POSTS_AT_ONCE[state] && start());
    });
    planned = { atMs, cancel };
  }

  /** Returns false if nothing is due. */
  function start(): boolean {
    const batch = take();
    if (batch.length === 0) return false;
    deliveries += 1;
    void deliverAll(batch).finally(() => {
      deliveries -= 1;
      if (queue.length > 0) {
        const dueMs = queue.reduce((least, entry) => Math.min(least, entry.dueMs), Number.POSITIVE_INFINITY);
        plan(dueMs - clock.monotonicMs());
      } else if (deliveries === 0) whenIdle();
    });
    return true;
  }

  /** Batch after batch, until nothing is due or everything pauses. */
  async function deliverAll(first: Batch): Promise<void> {
    for (let batch = first; batch.length > 0; batch = take()) if (!(await deliver(batch))) return;
  }

  /** Returns false if everything is to pause. Never rejects. */
  async function deliver(batch: Batch): Promise<boolean> {
    for (const entry of batch) onTheWay.add(entry);
    const outcome = await send(batch);
    if (state === 'closed') return false;
    for (const entry of batch) onTheWay.delete(entry);
    if (outcome.kind === 'reported') return reported(batch, outcome.outcomes);
    if (outcome.kind === 'journaled') {
      failures = 0;
      journaledAtMs = clock.monotonicMs();
      count({ journaled: batch.length });
      return true;
    }
    if (outcome.kind === 'unreachable' || !outcome.content) {
      putBack(batch);
      return pause();
    }
    const [only] = batch;
    if (batch.length === 1 && only !== undefined) return refusedAlone(only);
    // One of the batch is at fault, or the batch is too large for a part between here and the function.
    batchMax = Math.ceil(batch.length / 2);
    putBack(batch);
    return true;
  }

  async function send(batch: Batch): Promise<UnmeteredOutcome | { readonly kind: 'journaled' }> {
    const leaving = state === 'leaving';
    // The table is quicker than the function.
    if (leaving && (await isJournaled(batch))) return { kind: 'journaled' };
    const timeoutMs = leaving ? LEAVING.timeoutMs : POST_TIMEOUT_MS;
    const outcome = await options.post(batch, { timeoutMs, now: leaving });
    const isAway = outcome.kind === 'unreachable' || (outcome.kind === 'refused' && !outcome.content);
    return isAway && !leaving && (await isJournaled(batch)) ? { kind: 'journaled' } : outcome;
  }

  async function isJournaled(batch: Batch): Promise<boolean> {
    if (options.writeJournal === undefined) return false;
    try {
      await options.writeJournal(`{"answers":[${batch.map(({ json }) => json).join(',')}]}`);
      return true;
    } catch (error) {
      options.notWritten?.(error);
      return false;
    }
  }

  function reported(
    batch: Batch,
    outcomes: Extract<UnmeteredOutcome, { kind: 'reported' }>['outcomes'],
  ): true {
    failures = 0;
    batchMax = Math.min(REQUESTS_MAX, batchMax + BATCH_GROWTH);
    const byOutcome = Map.groupBy(batch, ({ jobId }) => outcomes.get(jobId) ?? 'undecided');
    const recorded = byOutcome.get('recorded') ?? [];
    taken += recorded.length;
    const undecided = byOutcome.get('undecided') ?? [];
    for (const entry of undecided) {
      entry.undecided += 1;
      entry.dueMs = clock.monotonicMs() + backoffMs(entry.undecided);
    }
    putBack(undecided);
    for (const entry of byOutcome.get('invalid') ?? []) refused(entry);
    count({ posted: recorded.length });
    return true;
  }

  /** A function that refuses everything is away: no decision is given up for it, and everything pauses. */
  function refusedAlone(entry: Undelivered): boolean {
    const tookAny = taken > takenAtRefusal;
    takenAtRefusal = taken;
    if (taken > entry.takenBefore) refused(entry);
    else retryLater(entry, failures + 1);
    return tookAny || pause();
  }

  function refused(entry: Undelivered): void {
    entry.refusals += 1;
    if (entry.refusals >= REFUSALS_MAX) lose([entry], 'refused');
    else retryLater(entry, entry.refusals);
  }

  /** At the end of the queue, so that it holds up no other decision. */
  function retryLater(entry: Undelivered, tries: number): void {
    entry.dueMs = clock.monotonicMs() + backoffMs(tries);
    entry.takenBefore = taken;
    queue.push(entry);
    queueBytes += entry.bytes;
    shed();
  }

  function pause(): false {
    failures += 1;
    quietUntilMs = clock.monotonicMs() + backoffMs(failures);
    return false;
  }

  function backoffMs(tries: number): number {
    if (state === 'leaving') return LEAVING.retryMs;
    return Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** Math.min(tries, 6)) * (0.5 + options.random() / 2);
  }

  function leave(): void {
    if (state !== 'open') return;
    state = 'leaving';
    quietUntilMs = Number.NEGATIVE_INFINITY;
    for (const entry of queue) entry.dueMs = Number.NEGATIVE_INFINITY;
    plan(0);
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
    planned?.cancel();
    planned = undefined;
    // It will not be known if those on their way arrived.
    const rest = [...onTheWay, ...queue];
    onTheWay.clear();
    queue = [];
    queueBytes = 0;
    lose(rest, 'stopping');
  }

  function lose(lost: Batch, why: UnmeteredLoss): void {
    if (lost.length === 0) return;
    const jobIds = lost.slice(0, LOST_NAMED_MAX).map(({ jobId }) => jobId);
    count({ dropped: lost.length, lost: { why, jobIds } });
  }

  /** Every change of the queue is counted, so that the last moment in which any waited is known. */
  function count(what: {
    readonly posted?: number;
    readonly journaled?: number;
    readonly dropped?: number;
    readonly lost?: { readonly why: UnmeteredLoss; readonly jobIds: readonly number[] };
  }): void {
    waitedAtMs = clock.monotonicMs();
    options.observe({ type: 'unmetered', queued: queued(), posted: 0, dropped: 0, ...what });
  }

  return {
    add,
    leave,
    flush,
    get queued() {
      return queued();
    },
    isBookedSince: (atMs) =>
      queued() === 0 && waitedAtMs <= atMs && clock.monotonicMs() - journaledAtMs >= BOOKED_AFTER_MS,
  };
}
