/**
 * Gathers jobs into batches per lane: while one batch is at the ledger, the next one fills up. Forty jobs of one group then cost two
 * transactions instead of forty that compete for the same counters.
 *
 * 1. A job joins the queue, and its root joins a lane. A job that is asked about twice is sent once.
 * 2. A lane with waiting jobs and no batch in flight starts one, once all requests of the current network read are in.
 * 3. One cold start or hung connection must not stall a company: a second batch may start 250 ms after the first.
 * 4. Past its deadline a caller gets `undecided`.
 */
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

/** Deadlines within the same span share one timer and run at its start: early, never late. */
const SPAN_MS = 20;

class Deadlines {
  readonly #clock: RelayClock;
  readonly #spans = new Map<number, Set<() => void>>();
  #armed: { readonly span: number; readonly cancel: () => void } | undefined;

  constructor(clock: RelayClock) {
    this.#clock = clock;
  }

  /** Runs `run` within {@link SPAN_MS} before `deadlineMs` (monotonic). The result cancels it. */
  at(deadlineMs: number, run: () => void): () => void {
    const span = Math.floor(deadlineMs / SPAN_MS);
    const due = this.#spans.get(span);
    if (due === undefined) this.#spans.set(span, new Set([run]));
    else due.add(run);
    this.#arm(span);
    return () => this.#cancel(span, run);
  }

  close(): void {
    this.#armed?.cancel();
    this.#armed = undefined;
    this.#spans.clear();
  }

  #cancel(span: number, run: () => void): void {
    const due = this.#spans.get(span);
    due?.delete(run);
    if (due?.size === 0) this.#spans.delete(span);
  }

  #arm(span: number): void {
    if (this.#armed !== undefined && this.#armed.span <= span) return;
    this.#armed?.cancel();
    const delayMs = Math.max(0, Math.ceil(span * SPAN_MS - this.#clock.monotonicMs()));
    this.#armed = { span, cancel: this.#clock.after(delayMs, () => this.#run()) };
  }

  #run(): void {
    this.#armed = undefined;
    const nowSpan = Math.floor(this.#clock.monotonicMs() / SPAN_MS);
    const due = [...this.#spans.keys()].filter((span) => span <= nowSpan).sort((a, b) => a - b);
    for (const span of due) {
      const runs = this.#spans.get(span);
      this.#spans.delete(span);
      for (const run of runs ?? []) run();
    }
    const next = Math.min(...this.#spans.keys());
    if (Number.isFinite(next)) this.#arm(next);
  }
}

/** Translation bounds a request to less. A larger one would crowd others out of their batch. */
export const REQUEST_BYTES_MAX = 64 * 1024;
/** One batch in flight keeps counters free of conflicts and makes the next batch large. Two are enough for a hung call. */
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

interface Lane {
  readonly name: string;
  /** Roots with waiting jobs, in the order of their turns. */
  readonly roots: Set<string>;
  readonly inFlight: Set<Batch>;
  starting: boolean;
  cancelSecond: (() => void) | undefined;
}

interface Batch {
  readonly jobs: readonly BatchJob[];
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
  readonly newBatchId?: () => string;
}) {
  const { clock, lanes: plan = createLanes(clock) } = options;
  const jobs = new Map<number, BatchJob>();
  const lanes = new Map<string, Lane>();
  const queue = new FairQueue(options.queuedMax);
  const deadlines = new Deadlines(clock);
  let version = plan.version;

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

  function wait(job: BatchJob, { deadlineMs, resolve, sent }: Waiter): void {
    const waiter: Waiter = {
      deadlineMs,
      sent,
      resolve: (decision) => {
        forget();
        resolve(decision);
      },
    };
    const forget = deadlines.at(deadlineMs, () => {
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
    plan.noteJob(job.root);
    moveRoots();
    const evicted = queue.push(job);
    if (evicted !== undefined) answer(evicted, undecided('queue_full'));
    if (evicted !== job) joinLane(job.root);
  }

  function joinLane(root: string): void {
    const lane = laneNamed(plan.laneOf(root));
    lane.roots.add(root);
    if (lane.starting || lane.cancelSecond !== undefined) return;
    lane.starting = true;
    options.defer(() => {
      lane.starting = false;
      start(lane);
    });
  }

  function start(lane: Lane): void {
    lane.cancelSecond?.();
    lane.cancelSecond = undefined;
    while (hasJobs(lane)) {
      const nowMs = clock.monotonicMs();
      const [first] = lane.inFlight;
      if (lane.inFlight.size === IN_FLIGHT_MAX) return;
      const waitMs = first === undefined ? 0 : first.startedAtMs + SECOND_BATCH_MS - nowMs;
      if (waitMs > 0) {
        lane.cancelSecond = clock.after(Math.ceil(waitMs), () => start(lane));
        return;
      }
      const taken = takeBatch(queue, lane.roots, nowMs);
      for (const job of taken.expired) answer(job, undecided('deadline'));
      if (taken.jobs.length > 0) send(lane, taken.jobs, nowMs);
    }
    if (lane.inFlight.size === 0 && !lane.starting) lanes.delete(lane.name);
  }

  function hasJobs({ roots }: Lane): boolean {
    for (const root of roots) if (queue.has(root)) return true;
    return false;
  }

  /** Moves waiting roots to their new lanes. Batches in flight end in their old ones. */
  function moveRoots(): void {
    if (version === plan.version) return;
    version = plan.version;
    for (const lane of [...lanes.values()]) {
      for (const root of [...lane.roots]) {
        if (plan.laneOf(root) === lane.name) continue;
        lane.roots.delete(root);
        joinLane(root);
      }
    }
  }

  function send(lane: Lane, sent: readonly BatchJob[], startedAtMs: number): void {
    const latestMs = Math.max(...sent.map(latestDeadlineMs));
    // A sender that ignores the deadline must not block the lane.
    const forgetDeadline = deadlines.at(latestMs, () => end(lane, batch, []));
    const batch: Batch = { jobs: sent, startedAtMs, forgetDeadline };
    lane.inFlight.add(batch);
    const id = options.newBatchId?.();
    let waiters = 0;
    for (const job of sent) {
      waiters += job.waiters.size;
      if (id === undefined) continue;
      job.batch = id;
      for (const waiter of job.waiters) waiter.sent?.(id);
    }
    const named = id !== undefined && { id };
    options.observe({ type: 'batch', ...named, lane: lane.name, jobs: sent.length, waiters });
    options.send(sent, latestMs - startedAtMs, id).then(
      (decisions) => end(lane, batch, decisions),
      (error: unknown) => {
        options.observe(ownFault('batch', error));
        const failed = sent.map(() => undecided('error'));
        end(lane, batch, failed);
      },
    );
  }

  function end(lane: Lane, batch: Batch, decisions: readonly LedgerDecision[]): void {
    // After the deadline all callers have the answer of the fallback, and the ledger has its own record.
    if (!lane.inFlight.delete(batch)) return;
    batch.forgetDeadline();
    moveRoots();
    for (const [index, job] of batch.jobs.entries()) answer(job, decisions[index] ?? undecided('deadline'));
    start(lane);
  }

  function answer(job: BatchJob, decision: LedgerDecision): void {
    jobs.delete(job.request.jobId);
    for (const waiter of job.waiters) waiter.resolve(decision);
    job.waiters.clear();
  }

  function laneNamed(name: string): Lane {
    const known = lanes.get(name);
    if (known !== undefined) return known;
    const none = { starting: false, cancelSecond: undefined };
    const lane: Lane = { name, roots: new Set(), inFlight: new Set(), ...none };
    lanes.set(name, lane);
    return lane;
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
      for (const lane of lanes.values()) lane.cancelSecond?.();
      lanes.clear();
      deadlines.close();
    },
  };
}
