/**
 * Gathers jobs into batches: while a batch of a root group is at the ledger, its next one fills up. Forty jobs of one group then
 * cost two transactions instead of forty that compete for the same counters.
 *
 * 1. A job joins the queue. A job that is asked about twice is sent once.
 * 2. A lane with waiting jobs and no batch in flight starts one, once all requests of the current network read are in.
 * 3. If more lanes wait than calls are free, each call takes its share of them.
 * 4. One cold start or hung connection must not stall a company: a second batch may start 250 ms after the first.
 * 5. Past its deadline a caller gets `undecided`.
 */
import { randomUUID } from 'node:crypto';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { ownFault, type RelayObserver } from '../events.ts';
import { type LedgerDecision, type RelayClock, undecided } from '../exchange.ts';
import {
  type BatchJob,
  createBatchJob,
  FairQueue,
  latestDeadlineMs,
  type SentListener,
  takeBatch,
  type Waiter,
} from './fair-queue.ts';
import { createLanes, type Lanes } from './lanes.ts';

/** The fallback's decision must be on its way by the deadline. */
const EARLY_MS = 5;

/** Translation bounds a request to less. A larger one would crowd others out of their batch. */
export const REQUEST_BYTES_MAX = 64 * 1024;
/** One batch of a lane in flight keeps counters free of conflicts and makes the next one large. Two are enough for a hung call. */
export const SECOND_BATCH_MS = 250;
const IN_FLIGHT_MAX = 2;

/**
 * Returns one decision per job, in order. Never throws.
 *
 * @param remainingMs - time until the last deadline.
 * @param batch - its id in the logs of relay and function.
 */
export type SendBatch = (
  jobs: readonly BatchJob[],
  remainingMs: number,
  batch?: string,
) => Promise<readonly LedgerDecision[]>;

export type GroupCommit = ReturnType<typeof createGroupCommit>;

interface Batch {
  readonly jobs: readonly BatchJob[];
  readonly roots: ReadonlySet<string>;
  readonly startedAtMs: number;
  readonly forgetDeadline: () => void;
}

export function createGroupCommit(options: {
  readonly send: SendBatch;
  readonly clock: RelayClock;
  readonly observe: RelayObserver;
  readonly lanes?: Lanes;
  /** Runs after the current network read, so its requests share a batch: `setImmediate`. */
  readonly defer: (run: () => void) => void;
  readonly queuedMax?: number;
}) {
  const { clock, lanes = createLanes(clock) } = options;
  const jobs = new Map<number, BatchJob>();
  /** In the order of their start. */
  const inFlight = new Set<Batch>();
  const queue = new FairQueue(options.queuedMax);
  let isStarting = false;
  let cancelWake: (() => void) | undefined;

  function decide(
    request: AdmissionRequest,
    deadlineMs: number,
    sent?: SentListener,
  ): Promise<LedgerDecision> {
    return new Promise((resolve) => {
      const known = jobs.get(request.jobId);
      const job = known ?? createBatchJob(request);
      if (job.bytes > REQUEST_BYTES_MAX) {
        resolve(undecided('oversized'));
        return;
      }
      if (job.batch !== undefined) sent?.(job.batch);
      wait(job, { deadlineMs, resolve, sent });
      if (known === undefined) enqueue(job);
    });
  }

  const runAt = (atMs: number, run: () => void): (() => void) =>
    clock.after(Math.max(0, atMs - clock.monotonicMs()), run);

  function wait(job: BatchJob, { deadlineMs, resolve, sent }: Waiter): void {
    const waiter: Waiter = {
      deadlineMs,
      sent,
      resolve: (decision) => {
        forget();
        resolve(decision);
      },
    };
    const forget = runAt(deadlineMs - EARLY_MS, () => {
      job.waiters.delete(waiter);
      // A job in flight stays known, so a late duplicate finds it.
      if (job.waiters.size === 0 && queue.waits(job)) {
        queue.remove(job);
        jobs.delete(job.request.jobId);
      }
      resolve(undecided('deadline'));
    });
    job.waiters.add(waiter);
  }

  function enqueue(job: BatchJob): void {
    jobs.set(job.request.jobId, job);
    const evicted = queue.push(job);
    if (evicted !== undefined) answer(evicted, undecided('queue_full'));
    if (isStarting) return;
    isStarting = true;
    options.defer(() => {
      isStarting = false;
      start();
    });
  }

  const isYoung = ({ startedAtMs }: Batch, nowMs: number): boolean => startedAtMs + SECOND_BATCH_MS > nowMs;

  function start(): void {
    const nowMs = clock.monotonicMs();
    const callsMax = lanes.callsMax();
    let young = 0;
    let rootsOut = 0;
    for (const batch of inFlight) {
      rootsOut += batch.roots.size;
      if (isYoung(batch, nowMs)) young += 1;
    }
    const free = Math.min(callsMax - young, IN_FLIGHT_MAX * callsMax - inFlight.size);
    const ready = free > 0 ? readyLanes(nowMs) : [];
    // A call that took all waiting lanes would be slow, and the next one even more, because more would wait for it.
    const share = Math.ceil((ready.length + rootsOut) / callsMax);
    for (let calls = free; calls > 0 && ready.length > 0; calls -= 1) {
      const some = ready.splice(0, Math.min(share, Math.ceil(ready.length / calls)));
      const roots = some.flatMap((lane) => lane.roots);
      const taken = takeBatch(queue, roots, nowMs, Math.max(...some.map(({ name }) => lanes.jobsMax(name))));
      for (const job of taken.expired) answer(job, undecided('deadline'));
      if (taken.jobs.length > 0) send(taken.jobs, nowMs);
    }
    if (queue.size > 0) wake(nowMs);
  }

  /** Lanes with waiting roots, without those that have to wait for their own batches. */
  function readyLanes(nowMs: number): { readonly name: string; readonly roots: readonly string[] }[] {
    const first = new Map<string, Batch>();
    const full = new Set<string>();
    for (const batch of inFlight)
      for (const root of batch.roots) {
        const lane = lanes.laneOf(root);
        if (isYoung(batch, nowMs) || (first.get(lane) ?? batch) !== batch) full.add(lane);
        else first.set(lane, batch);
      }
    const waiting = [...queue.roots()].filter((root) => !full.has(lanes.laneOf(root)));
    return [...Map.groupBy(waiting, lanes.laneOf)].map(([name, roots]) => ({ name, roots }));
  }

  /** Starts again once the oldest young batch has become old. A batch that ends before starts the next one itself. */
  function wake(nowMs: number): void {
    if (cancelWake !== undefined) return;
    for (const batch of inFlight) {
      if (!isYoung(batch, nowMs)) continue;
      cancelWake = clock.after(Math.ceil(batch.startedAtMs + SECOND_BATCH_MS - nowMs), () => {
        cancelWake = undefined;
        start();
      });
      return;
    }
  }

  function send(sent: readonly BatchJob[], startedAtMs: number): void {
    const latestMs = Math.max(...sent.map(latestDeadlineMs));
    // A sender that ignores the deadline must not block the lane.
    const forgetDeadline = runAt(latestMs, () => end(batch, []));
    const roots = new Set(sent.map(({ root }) => root));
    const batch: Batch = { jobs: sent, roots, startedAtMs, forgetDeadline };
    inFlight.add(batch);
    const id = randomUUID();
    let waiters = 0;
    for (const job of sent) {
      waiters += job.waiters.size;
      job.batch = id;
      for (const waiter of job.waiters) waiter.sent?.(id);
    }
    options.observe({ type: 'batch', roots: roots.size, jobs: sent.length, waiters });
    options.send(sent, latestMs - startedAtMs, id).then(
      (decisions) => end(batch, decisions),
      (error: unknown) => {
        options.observe(ownFault('batch', error));
        const failed = sent.map(() => undecided('error'));
        end(batch, failed);
      },
    );
  }

  function end(batch: Batch, decisions: readonly LedgerDecision[]): void {
    // After the deadline all callers have the answer of the fallback, and the ledger has its own record.
    if (!inFlight.delete(batch)) return;
    batch.forgetDeadline();
    for (const [index, job] of batch.jobs.entries()) answer(job, decisions[index] ?? undecided('deadline'));
    start();
  }

  function answer(job: BatchJob, decision: LedgerDecision): void {
    jobs.delete(job.request.jobId);
    for (const waiter of job.waiters) waiter.resolve(decision);
    job.waiters.clear();
  }

  return {
    decide,
    get open(): number {
      return jobs.size;
    },
    close: (): void => {
      for (const job of [...jobs.values()]) {
        queue.remove(job);
        answer(job, undecided('stopping'));
      }
      cancelWake?.();
      for (const { forgetDeadline } of inFlight) forgetDeadline();
      inFlight.clear();
    },
  };
}
