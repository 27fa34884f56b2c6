import type { AdmissionRequest } from '../../policies/request/request.ts';
import type { RelayClock } from '../exchange.ts';
import type { LedgerVerdict } from '../verdict.ts';

/** One job on its way to the ledger, with everybody who asked about it. */
export interface BatchJob {
  readonly request: AdmissionRequest;
  /** The request as it travels: made once, measured and sent. */
  readonly json: string;
  readonly bytes: number;
  /** Batches are made per root group: its counters are what jobs contend for. */
  readonly root: string;
  /** The queue is shared fairly between projects. */
  readonly project: string;
  readonly waiters: Set<Waiter>;
  /** The batch it went out in, once it has. */
  batch: string | undefined;
}

export interface Waiter {
  readonly deadlineMs: number;
  readonly resolve: (verdict: LedgerVerdict) => void;
  readonly sent?: SentListener | undefined;
}

/** Told of the batch in which a job goes to the ledger. */
export type SentListener = (batch: string) => void;

export function createBatchJob(request: AdmissionRequest): BatchJob {
  const json = JSON.stringify(request);
  return {
    request,
    json,
    bytes: Buffer.byteLength(json),
    root: requestRootOf(request),
    project: projectOf(request),
    waiters: new Set(),
    batch: undefined,
  };
}

/** The last moment at which anybody still wants the answer. */
export function latestDeadlineMs(job: BatchJob): number {
  let latest = 0;
  for (const waiter of job.waiters) latest = Math.max(latest, waiter.deadlineMs);
  return latest;
}

/** The root group's id; without ids its path, then the project, since one project never spans two roots. */
export function requestRootOf(request: AdmissionRequest): string {
  if (request.rootNamespaceId !== undefined) return String(request.rootNamespaceId);
  const path = request.projectPath;
  if (path !== undefined)
    return path.slice(0, path.indexOf('/') === -1 ? path.length : path.indexOf('/')).toLowerCase();
  return request.projectId === undefined ? 'unknown' : `project/${request.projectId}`;
}

/** The project's id, else its path. */
export function projectOf(request: AdmissionRequest): string {
  return request.projectId === undefined
    ? (request.projectPath?.toLowerCase() ?? 'unknown')
    : String(request.projectId);
}

/**
 * One batch in flight per root keeps its counters free of conflicts, and what queues meanwhile makes the next batch
 * large. But one cold start or hung connection must not stall a company: after this long a second batch may start.
 */
export const SECOND_BATCH_MS = 250;

type BatchStart =
  | { readonly when: 'now' }
  | { readonly when: 'later'; readonly afterMs: number }
  /** Two are out: wait for one to end. */
  | { readonly when: 'batch_ends' };

/** Whether a root may start a batch, from when its batches in flight were started (monotonic ms). */
export function batchStart(startedAtMs: readonly number[], nowMs: number): BatchStart {
  const [first, second] = startedAtMs;
  if (first === undefined) return { when: 'now' };
  if (second !== undefined) return { when: 'batch_ends' };
  const afterMs = first + SECOND_BATCH_MS - nowMs;
  return afterMs <= 0 ? { when: 'now' } : { when: 'later', afterMs };
}

/** Deadlines that fall into the same span share one timer and run at its beginning: early, never late. */
export const SPAN_MS = 20;

/** Runs things when their time is up, with one timer for all of them instead of one for each question. */
export class Deadlines {
  readonly #clock: RelayClock;
  readonly #spans = new Map<number, Set<() => void>>();
  #armed: { readonly span: number; readonly cancel: () => void } | undefined;

  constructor(clock: RelayClock) {
    this.#clock = clock;
  }

  /** Runs `run` within {@link SPAN_MS} before `deadlineMs` (monotonic); the result takes it back. */
  at(deadlineMs: number, run: () => void): () => void {
    const span = Math.floor(deadlineMs / SPAN_MS);
    const due = this.#spans.get(span);
    if (due === undefined) this.#spans.set(span, new Set([run]));
    else due.add(run);
    this.#arm(span);
    return () => this.#takeBack(span, run);
  }

  /** Forgets everything. */
  close(): void {
    this.#armed?.cancel();
    this.#armed = undefined;
    this.#spans.clear();
  }

  #takeBack(span: number, run: () => void): void {
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
    // At most as many spans as the longest deadline has, e.g. 100 for 2 s.
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
