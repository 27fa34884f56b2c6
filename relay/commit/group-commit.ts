import type { AdmissionRequest } from '../../policies/request/request.ts';
import type { RelayObserver } from '../events.ts';
import { ownFault } from '../events.ts';
import type { RelayClock } from '../exchange.ts';
import { type LedgerVerdict, undecided } from '../verdict.ts';
import {
  type BatchJob,
  batchStart,
  createBatchJob,
  Deadlines,
  latestDeadlineMs,
  type SentListener,
  type Waiter,
} from './batch-job.ts';
import { FairQueue, takeBatch } from './fair-queue.ts';
import { createLanes, type Lanes } from './lanes.ts';

/** Bounds of translation allow less; a request beyond this would push its neighbours out of their batch. */
export const REQUEST_BYTES_MAX = 64 * 1024;

/**
 * One verdict per job, in order. Never rejects; `remainingMs` is how long anybody still waits, `batch` the name by which logs
 * on both sides call it.
 */
export type SendBatch = (
  jobs: readonly BatchJob[],
  remainingMs: number,
  batch?: string,
) => Promise<readonly LedgerVerdict[]>;

interface GroupCommitDeps {
  readonly send: SendBatch;
  readonly clock: RelayClock;
  readonly observe: RelayObserver;
  /** Whose jobs go together. @default its own, which hear of no fights */
  readonly lanes?: Lanes;
  /** Runs a thing a little later, so that questions of one network read share a batch: `setImmediate`. */
  readonly defer: (run: () => void) => void;
  /** @default QUEUED_MAX */
  readonly queuedMax?: number;
  /** Names a batch. @default batches have no names */
  readonly newBatchId?: () => string;
}

export interface GroupCommit {
  /** Resolves by `deadlineMs` (monotonic), never rejects. Asking twice about one job asks the ledger once. */
  decide(request: AdmissionRequest, deadlineMs: number, sent?: SentListener): Promise<LedgerVerdict>;
  /** Jobs that wait or are in flight. */
  readonly open: number;
  /** Answers everybody `undecided{stopping}` and lets go of all timers. */
  close(): void;
}

/** One queue of batches. */
interface Lane {
  readonly name: string;
  /** Those with jobs that wait, in the order of their turns. */
  readonly roots: Set<string>;
  readonly inFlight: Set<Batch>;
  /** A batch is about to start or to be planned, after the current network read. */
  starting: boolean;
  /** Set while a second batch waits for the first to have been out long enough; takes the plan back. */
  cancelSecond: (() => void) | undefined;
}

interface Batch {
  readonly jobs: readonly BatchJob[];
  readonly startedAtMs: number;
  readonly forgetDeadline: () => void;
}

/**
 * Gathers questions into batches per lane: while one batch is at the ledger, the next one fills up. Forty jobs of one group
 * cost then two transactions instead of forty that fight for the same counters.
 */
export function createGroupCommit(deps: GroupCommitDeps): GroupCommit {
  const { clock, lanes: plan = createLanes(clock) } = deps;
  const jobs = new Map<number, BatchJob>();
  const lanes = new Map<string, Lane>();
  const queue = new FairQueue(deps.queuedMax);
  const deadlines = new Deadlines(clock);
  let version = plan.version;

  function decide(
    request: AdmissionRequest,
    deadlineMs: number,
    sent?: SentListener,
  ): Promise<LedgerVerdict> {
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
      resolve: (verdict) => {
        forget();
        resolve(verdict);
      },
    };
    const forget = deadlines.at(deadlineMs, () => {
      job.waiters.delete(waiter);
      // Nobody wants it any more. In flight it stays known, so that a late duplicate still finds it.
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
    if (evicted !== job) lineUp(job.root);
  }

  /** Puts a root with jobs into its lane, which starts as soon as it may. */
  function lineUp(root: string): void {
    const lane = laneOf(plan.laneOf(root));
    lane.roots.add(root);
    if (lane.starting || lane.cancelSecond !== undefined) return;
    lane.starting = true;
    deps.defer(() => {
      lane.starting = false;
      start(lane);
    });
  }

  /** Starts what may start and plans what may start later. */
  function start(lane: Lane): void {
    lane.cancelSecond?.();
    lane.cancelSecond = undefined;
    while (waits(lane)) {
      const nowMs = clock.monotonicMs();
      const allowed = batchStart(
        [...lane.inFlight].map((batch) => batch.startedAtMs),
        nowMs,
      );
      if (allowed.when === 'batch_ends') return;
      if (allowed.when === 'later') {
        lane.cancelSecond = clock.after(Math.ceil(allowed.afterMs), () => start(lane));
        return;
      }
      const taken = takeBatch(queue, lane.roots, nowMs);
      for (const job of taken.expired) answer(job, undecided('deadline'));
      if (taken.jobs.length > 0) send(lane, taken.jobs, nowMs);
    }
    if (lane.inFlight.size === 0 && !lane.starting) lanes.delete(lane.name);
  }

  /** Whether any job waits in it: those of its roots may have gone meanwhile. */
  function waits({ roots }: Lane): boolean {
    for (const root of roots) if (queue.has(root)) return true;
    return false;
  }

  /** Whoever waits where its root does not belong any more goes where it does; batches that are out end where they began. */
  function moveRoots(): void {
    if (version === plan.version) return;
    version = plan.version;
    for (const lane of [...lanes.values()]) {
      for (const root of [...lane.roots]) {
        if (plan.laneOf(root) === lane.name) continue;
        lane.roots.delete(root);
        lineUp(root);
      }
    }
  }

  function send(lane: Lane, sent: readonly BatchJob[], startedAtMs: number): void {
    const latestMs = Math.max(...sent.map(latestDeadlineMs));
    // The sender keeps its own time; this is for one that does not, so that a root is never stuck behind it.
    const forgetDeadline = deadlines.at(latestMs, () => end(lane, batch, []));
    const batch: Batch = { jobs: sent, startedAtMs, forgetDeadline };
    lane.inFlight.add(batch);
    const id = deps.newBatchId?.();
    if (id !== undefined) name(sent, id);
    let waiters = 0;
    for (const job of sent) waiters += job.waiters.size;
    deps.observe({
      type: 'batch',
      ...(id !== undefined && { id }),
      lane: lane.name,
      jobs: sent.length,
      waiters,
    });
    deps.send(sent, latestMs - startedAtMs, id).then(
      (verdicts) => end(lane, batch, verdicts),
      (error: unknown) => {
        deps.observe(ownFault('batch', error));
        end(
          lane,
          batch,
          sent.map(() => undecided('error')),
        );
      },
    );
  }

  function name(sent: readonly BatchJob[], id: string): void {
    for (const job of sent) {
      job.batch = id;
      for (const waiter of job.waiters) waiter.sent?.(id);
    }
  }

  function end(lane: Lane, batch: Batch, verdicts: readonly LedgerVerdict[]): void {
    // A verdict after the deadline: everybody has got the fallback's answer, the ledger keeps its own record.
    if (!lane.inFlight.delete(batch)) return;
    batch.forgetDeadline();
    moveRoots();
    for (const [index, job] of batch.jobs.entries()) answer(job, verdicts[index] ?? undecided('deadline'));
    start(lane);
  }

  function answer(job: BatchJob, verdict: LedgerVerdict): void {
    jobs.delete(job.request.jobId);
    for (const waiter of job.waiters) waiter.resolve(verdict);
    job.waiters.clear();
  }

  function laneOf(name: string): Lane {
    const known = lanes.get(name);
    if (known !== undefined) return known;
    const lane: Lane = {
      name,
      roots: new Set(),
      inFlight: new Set(),
      starting: false,
      cancelSecond: undefined,
    };
    lanes.set(name, lane);
    return lane;
  }

  return {
    decide,
    get open() {
      return jobs.size;
    },
    close: () => {
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
