/**
 * Every job passes through here. Those that the ledger lets wait keep their request open and are asked about again.
 *
 * 1. The ledger answers `waiting` if only limits with a `wait` refuse a job. The job joins the wait queue of each counter that
 *    the answer names.
 * 2. Jobs of a root group are served in order of arrival. Root groups take turns by weight, however many jobs one of them has.
 * 3. A round asks again about the first jobs of each wait queue whose pause is over. A pause of a second also ends when a job is
 *    admitted or a response reports more headroom.
 * 4. While a job is asked about it has a slot: it may take what others wait for. A smaller job may be admitted before an earlier
 *    one (backfill), at most eight times for each earlier job.
 * 5. A job that has waited long enough is asked about one last time. Then the ledger admits or rejects it.
 */
import {
  LINES_MAX,
  type LimitRoom,
  WAITING_LINES_MAX,
  type WaitingAnswer,
  type WaitingLine,
  type WaitingTerms,
} from '../functions/core/contract/admissions.ts';
import { counterName } from '../policies/claim.ts';
import type { AdmissionRequest } from '../policies/request/request.ts';
import { isInFlight } from '../policies/unit.ts';
import { type BatchJob, requestRootOf, SEND_MS_MIN, type SentListener } from './commit/fair-queue.ts';
import type { GroupCommit } from './commit/group-commit.ts';
import type { Lanes } from './commit/lanes.ts';
import type { RelayObserver } from './events.ts';
import { type FinalDecision, type LedgerDecision, type RelayClock, undecided } from './exchange.ts';

/** Each waiting job keeps a stream open. Beyond these, of all roots and of one, jobs are rejected immediately. */
export const WAITING_MAX = 256;
export const WAITING_OF_ROOT_MAX = 64;
const ASKED_MAX = 96;
/** Jobs of one wait queue asked about together. More than one, because a smaller job may fit where the first does not. */
const SLOTS_MAX = 4;
/** After this many backfills a job goes first, so a large job is not passed over for ever. */
export const BACKFILLS_MAX = 8;
const PAUSE_MS = 1_000;
const LAST_MS = 1_000;
/** A relay that stops has 6 s for its decisions. */
const STOPPING_MS = 3_000;

export interface WaitQueueOptions {
  readonly commit: Pick<GroupCommit, 'decide'>;
  readonly clock: RelayClock;
  readonly observe: RelayObserver;
  readonly deadlineMs: number;
  /** From request to answer for a job that waits: the timeout of the router. */
  readonly answerWithinMs: number;
  readonly weightOf?: (root: string) => number;
  /** Returns false if a rejection would not be sent, so no job has to wait. @default always true */
  readonly isRejecting?: () => boolean;
  /** Root groups that wait for one counter share a lane: one batch then takes them in order. */
  readonly lanes?: Pick<Lanes, 'noteContended'>;
  readonly noted?: (request: AdmissionRequest, answer: WaitingAnswer) => void;
}

interface Waiter {
  readonly arrivedAtMs: number;
  readonly sent?: SentListener;
  readonly listenForEnd: (gone: () => void) => void;
}

export interface WaitedDecision {
  readonly decision: FinalDecision;
  readonly waitedMs?: number;
}

interface WaitingJob {
  readonly request: AdmissionRequest;
  readonly root: string;
  /** The wait queues that it is in: counters, as the last answer named them. */
  counters: readonly string[];
  /** Its position. Undefined: all wait queues were full, so it is asked about one last time. */
  order: number | undefined;
  readonly sinceMs: number;
  readonly untilMs: number;
  lastAskMs: number;
  asked: 'again' | 'last' | undefined;
  /** Earlier jobs that it passes if it is admitted. Undefined while it has no slot: it may not take from its counters. */
  passing: readonly WaitingJob[] | undefined;
  /** Backfills that passed it, and those that may pass it now. */
  passed: number;
  pending: number;
  readonly resolvers: ((waited: WaitedDecision) => void)[];
  listeners: number;
}

export class WaitQueue {
  readonly #options: WaitQueueOptions;
  readonly #jobs = new Map<number, WaitingJob>();
  /** In their order, which is fair to root groups. */
  readonly #waiting: WaitingJob[] = [];
  /** By root group with waiting jobs: the last position given. Else its next job could always go before those of others. */
  readonly #lastOrders = new Map<string, number>();
  /** By counter: when jobs are asked about again (monotonic), and the units left that were last reported. */
  readonly #pauses = new Map<string, { endMs: number; left: number }>();
  #cancelRound = (): void => {};
  #isRoundPlanned = false;
  #isStopping = false;

  constructor(options: WaitQueueOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#waiting.length;
  }

  /** Decides one job. Always resolves, at most `answerWithinMs` after the request arrived. */
  async decide(request: AdmissionRequest, waiter: Waiter): Promise<WaitedDecision> {
    const { commit, deadlineMs, noted } = this.#options;
    const decision = await commit.decide(request, waiter.arrivedAtMs + deadlineMs, waiter.sent);
    if (decision.outcome !== 'waiting') return { decision };
    noted?.(request, decision);
    return this.#wait(request, decision, waiter);
  }

  terms(jobIds: readonly number[]): WaitingTerms {
    if (this.#jobs.size === 0 && !this.#isFull) return {};
    const lines = new Set<string>();
    const add = (names: readonly string[]): void => {
      for (const name of names) if (lines.size < LINES_MAX) lines.add(name);
    };
    const nowMs = this.#nowMs();
    const jobs = jobIds.flatMap((jobId) => {
      const job = this.#jobs.get(jobId);
      // A job that does not wait yet may not begin to.
      if (job === undefined) return this.#isFull ? [{ jobId, waitedMs: 0, last: true as const }] : [];
      const turn = job.passing === undefined ? [] : job.counters;
      add(turn);
      const waitedMs = Math.max(0, Math.round(nowMs - job.sinceMs));
      const last = job.asked === 'last' && { last: true as const };
      return [{ jobId, waitedMs, ...(turn.length > 0 && { turn }), ...last }];
    });
    for (const { counters } of this.#waiting) add(counters);
    return { ...(lines.size > 0 && { lines: [...lines] }), ...(jobs.length > 0 && { jobs }) };
  }

  /** Sorts a batch: waiting jobs first, in their order, because the function takes jobs as they come. */
  inOrder<Job extends Pick<BatchJob, 'request'>>(jobs: readonly Job[]): readonly Job[] {
    if (this.size === 0) return jobs;
    const orderOf = ({ request: { jobId } }: Job): number =>
      this.#jobs.get(jobId)?.order ?? Number.MAX_SAFE_INTEGER;
    return jobs.toSorted((a, b) => orderOf(a) - orderOf(b));
  }

  /**
   * Learns from any response. More headroom than last reported ends a pause, once: headroom that fits no waiting job is no reason to
   * ask on.
   */
  onHeadroom(headroom: readonly LimitRoom[]): void {
    if (this.size === 0) return;
    const nowMs = this.#nowMs();
    let isSooner = false;
    for (const { refusal } of headroom) {
      const { reason } = refusal;
      if (!('committed' in reason) || !isInFlight(reason.unit)) continue;
      const pause = this.#pauses.get(counterName({ ...reason, period: 'now' }));
      if (pause === undefined) continue;
      const left = reason.limitAmount - reason.committed;
      if (left > pause.left && pause.endMs > nowMs) {
        pause.endMs = nowMs;
        isSooner = true;
      }
      pause.left = left;
    }
    if (isSooner) this.#planRound();
  }

  /** From now on no job begins to wait. Each waiting job is asked about one last time, within three seconds. */
  leave(): void {
    this.#isStopping = true;
    const lastMs = this.#nowMs() + STOPPING_MS;
    for (const job of this.#jobs.values()) job.lastAskMs = Math.min(job.lastAskMs, lastMs);
    this.#planRound();
  }

  longestLines(): readonly WaitingLine[] {
    const lines = new Map<string, Required<WaitingLine>>();
    for (const { root, counters, sinceMs } of this.#waiting) {
      for (const counter of counters) {
        const { jobs = 0, longestMs = 0 } = lines.get(`${root} ${counter}`) ?? {};
        const waitedMs = Math.round(this.#nowMs() - sinceMs);
        const line = { root, counter, jobs: jobs + 1, longestMs: Math.max(longestMs, waitedMs) };
        lines.set(`${root} ${counter}`, line);
      }
    }
    return [...lines.values()].sort((a, b) => b.jobs - a.jobs).slice(0, WAITING_LINES_MAX);
  }

  get #isFull(): boolean {
    return this.#isStopping || this.size >= WAITING_MAX || this.#options.isRejecting?.() === false;
  }

  #wait(request: AdmissionRequest, answer: WaitingAnswer, waiter: Waiter): Promise<WaitedDecision> {
    return new Promise((resolve) => {
      const job = this.#jobs.get(request.jobId) ?? this.#begin(request, answer, waiter);
      job.resolvers.push(resolve);
      job.listeners += 1;
      waiter.listenForEnd(() => {
        job.listeners -= 1;
        if (job.listeners === 0 && job.asked === undefined) this.#end(job, undecided('abandoned'));
      });
      this.#planRound();
    });
  }

  #begin(request: AdmissionRequest, { leftMs, counters }: WaitingAnswer, waiter: Waiter): WaitingJob {
    const { answerWithinMs } = this.#options;
    const nowMs = this.#nowMs();
    const root = requestRootOf(request);
    const mayWait =
      !this.#isFull && this.#waiting.filter((each) => each.root === root).length < WAITING_OF_ROOT_MAX;
    const untilMs = waiter.arrivedAtMs + answerWithinMs;
    const lastMs = untilMs - Math.min(LAST_MS, answerWithinMs / 2);
    const job: WaitingJob = {
      ...{ request, root, counters, order: undefined, sinceMs: nowMs, untilMs },
      lastAskMs: mayWait ? Math.min(nowMs + leftMs, lastMs) : nowMs,
      ...{ asked: undefined, passing: undefined, passed: 0, pending: 0, resolvers: [], listeners: 0 },
    };
    this.#jobs.set(request.jobId, job);
    if (mayWait) {
      this.#join(job);
      this.#pause(counters, nowMs);
      this.#options.observe({ type: 'waiting', jobs: this.size });
    }
    return job;
  }

  #planRound(): void {
    if (this.#isRoundPlanned) return;
    this.#isRoundPlanned = true;
    this.#options.clock.after(1, () => {
      this.#isRoundPlanned = false;
      this.#round();
    });
  }

  #round(): void {
    this.#cancelRound();
    const nowMs = this.#nowMs();
    let nextMs = Number.POSITIVE_INFINITY;
    let asked = 0;
    const due: WaitingJob[] = [];
    for (const job of this.#jobs.values()) {
      if (job.asked !== undefined) asked += 1;
      else if (job.lastAskMs <= nowMs) this.#ask(job, 'last');
      else nextMs = Math.min(nextMs, job.lastAskMs);
    }
    for (const job of this.#heads()) {
      if (job.asked !== undefined || asked >= ASKED_MAX) continue;
      const dueMs = Math.max(...job.counters.map((name) => this.#pauses.get(name)?.endMs ?? 0));
      if (dueMs > nowMs) nextMs = Math.min(nextMs, dueMs);
      else {
        due.push(job);
        asked += 1;
      }
    }
    this.#joinLanes(due);
    for (const job of due) this.#ask(job, 'again');
    if (!Number.isFinite(nextMs)) return;
    const delayMs = Math.max(1, Math.ceil(nextMs - nowMs));
    this.#cancelRound = this.#options.clock.after(delayMs, () => this.#round());
  }

  #joinLanes(jobs: readonly WaitingJob[]): void {
    const rootsOf = new Map<string, Set<string>>();
    for (const { root, counters } of jobs)
      for (const name of counters) rootsOf.set(name, (rootsOf.get(name) ?? new Set()).add(root));
    for (const [name, roots] of rootsOf)
      if (roots.size > 1) this.#options.lanes?.noteContended(name, [...roots]);
  }

  #ask(job: WaitingJob, how: 'again' | 'last'): void {
    const { commit, deadlineMs } = this.#options;
    job.asked = how;
    if (job.order !== undefined && this.#mayPass(job)) {
      job.passing = this.#earlier(job);
      for (const other of job.passing) other.pending += 1;
    }
    void commit
      .decide(job.request, Math.min(job.untilMs, this.#nowMs() + deadlineMs))
      .then((decision) => this.#onDecision(job, decision));
  }

  #onDecision(job: WaitingJob, decision: LedgerDecision): void {
    const wasLast = job.asked === 'last' || job.order === undefined;
    const isAdmitted = decision.outcome === 'admitted';
    job.asked = undefined;
    this.#releaseSlot(job, isAdmitted);
    if (isAdmitted && job.order !== undefined)
      for (const name of job.counters) this.#pauses.set(name, { endMs: this.#nowMs(), left: 0 });
    if (decision.outcome !== 'waiting') this.#end(job, decision);
    else if (wasLast) this.#end(job, undecided('malformed'));
    else this.#goOn(job, decision);
  }

  #goOn(job: WaitingJob, answer: WaitingAnswer): void {
    const nowMs = this.#nowMs();
    const { counters: before } = job;
    this.#options.noted?.(job.request, answer);
    job.counters = answer.counters;
    this.#pause(answer.counters, nowMs);
    this.#forgetPauses(before);
    job.lastAskMs = Math.min(job.lastAskMs, nowMs + answer.leftMs);
    if (job.listeners === 0) this.#end(job, undecided('abandoned'));
    else if (job.untilMs - nowMs < SEND_MS_MIN) this.#end(job, undecided('deadline'));
    else this.#planRound();
  }

  #end(job: WaitingJob, decision: FinalDecision): void {
    if (this.#jobs.get(job.request.jobId) !== job) return;
    this.#jobs.delete(job.request.jobId);
    const hasWaited = job.order !== undefined;
    if (hasWaited) {
      this.#releaseSlot(job, false);
      this.#waiting.splice(this.#waiting.indexOf(job), 1);
      if (!this.#waiting.some(({ root }) => root === job.root)) this.#lastOrders.delete(job.root);
      this.#forgetPauses(job.counters);
      this.#options.observe({ type: 'waiting', jobs: this.size });
    }
    const waitedMs = this.#nowMs() - job.sinceMs;
    for (const resolve of job.resolvers) resolve({ decision, ...(hasWaited && { waitedMs }) });
    this.#planRound();
  }

  /** Jobs of these counters were just asked about. A pause that is not over goes on. */
  #pause(counters: readonly string[], nowMs: number): void {
    for (const name of counters) {
      const { endMs = 0, left = 0 } = this.#pauses.get(name) ?? {};
      if (endMs <= nowMs) this.#pauses.set(name, { endMs: nowMs + PAUSE_MS, left });
    }
  }

  #forgetPauses(counters: readonly string[]): void {
    for (const name of counters)
      if (!this.#waiting.some((other) => other.counters.includes(name))) this.#pauses.delete(name);
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  /** Orders the job behind its root's last one, by `1 / weight`. A root without waiting jobs starts where the first job is. */
  #join(job: WaitingJob): void {
    const { weightOf = () => 1 } = this.#options;
    const [first] = this.#waiting;
    const now = first?.order === undefined ? 0 : first.order - 1 / weightOf(first.root);
    const order = Math.max(now, this.#lastOrders.get(job.root) ?? 0) + 1 / weightOf(job.root);
    job.order = order;
    this.#lastOrders.set(job.root, order);
    const after = this.#waiting.findIndex((other) => (other.order ?? 0) > order);
    this.#waiting.splice(after === -1 ? this.#waiting.length : after, 0, job);
  }

  #heads(): readonly WaitingJob[] {
    const slots = new Map<string, number>();
    const heads: WaitingJob[] = [];
    for (const job of this.#waiting) {
      if (job.passing === undefined) {
        const isHead = job.counters.every((name) => (slots.get(name) ?? 0) < SLOTS_MAX);
        if (!isHead || !this.#mayPass(job, heads)) continue;
        heads.push(job);
      }
      for (const name of job.counters) slots.set(name, (slots.get(name) ?? 0) + 1);
    }
    return heads;
  }

  /** Returns true if every earlier job can take one more backfill. @param more - jobs that would be asked about too. */
  #mayPass(job: WaitingJob, more: readonly WaitingJob[] = []): boolean {
    return this.#earlier(job).every(
      (other) =>
        other.passed + other.pending + more.filter((each) => isBehind(each, other)).length < BACKFILLS_MAX,
    );
  }

  #releaseSlot(job: WaitingJob, isAdmitted: boolean): void {
    for (const other of job.passing ?? []) {
      other.pending -= 1;
      if (isAdmitted) other.passed += 1;
    }
    job.passing = undefined;
  }

  #earlier(job: WaitingJob): readonly WaitingJob[] {
    return this.#waiting.slice(0, this.#waiting.indexOf(job)).filter((other) => isBehind(job, other));
  }
}

const isBehind = (job: WaitingJob, other: WaitingJob): boolean =>
  (other.order ?? 0) <= (job.order ?? 0) &&
  other !== job &&
  other.counters.some((name) => job.counters.includes(name));
