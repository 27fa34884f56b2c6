/** Keeps questions open whose jobs wait for room, and asks again as room comes back. */
import {
  LINES_MAX,
  WAITING_LINES_MAX,
  type WaitingAnswer,
  type WaitingLine,
  type WaitingTerms,
} from '../../functions/core/contract/index.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { requestRootOf, type SentListener } from '../commit/batch-job.ts';
import { SEND_MS_MIN } from '../commit/fair-queue.ts';
import type { GroupCommit } from '../commit/group-commit.ts';
import type { Lanes } from '../commit/lanes.ts';
import type { RelayObserver } from '../events.ts';
import type { RelayClock } from '../exchange.ts';
import { type FinalVerdict, type LedgerVerdict, undecided } from '../verdict.ts';
import { FairOrder, type Place } from './fair-order.ts';

/** Each keeps a stream open. More than these are rejected at once, of one root and of all. */
export const WAITING_MAX = 256;
export const WAITING_OF_ROOT_MAX = 64;
/** Jobs asked about at once: one batch. */
const ASKED_MAX = 96;
/** Between two rounds of a line of which nobody was admitted; it doubles. */
const ROUND_MS_MIN = 250;
const ROUND_MS_MAX = 2_000;
/** The last question must be answered, too. */
const LAST_MS = 1_000;
/** A relay that stops has 6 s for its decisions. */
const LEAVING_MS = 3_000;

interface WaitingDeps {
  readonly commit: Pick<GroupCommit, 'decide'>;
  readonly clock: RelayClock;
  readonly observe: RelayObserver;
  /** From question to answer where nobody waits. */
  readonly deadlineMs: number;
  /** From question to answer for a job that waits: what the router bears. */
  readonly answerWithinMs: number;
  /** Turns of a root group for one of others. @default 1 for all */
  readonly weightOf?: (root: string) => number;
  /** Whether a rejection would be sent at all: while it would not, nobody is kept waiting. @default it would */
  readonly isRejecting?: () => boolean;
  /** Told of roots that wait for one counter: asked about in one batch, they are taken in their turns. */
  readonly lanes?: Pick<Lanes, 'noteContended'>;
  /** Told of every answer that lets a job wait. */
  readonly noted?: (request: AdmissionRequest, answer: WaitingAnswer) => void;
}

/** The question behind a job. */
interface Asker {
  readonly arrivedAtMs: number;
  readonly sent?: SentListener;
  /** Is given what to call when the router has gone. */
  readonly listenForEnd: (gone: () => void) => void;
}

export interface WaitedVerdict {
  readonly verdict: FinalVerdict;
  /** How long the job was kept waiting. Absent: not at all. */
  readonly waitedMs?: number;
}

interface WaitingJob {
  readonly request: AdmissionRequest;
  /** Undefined: there was no room left to wait in, and it is asked about a last time. */
  readonly place: Place | undefined;
  readonly sinceMs: number;
  /** When it must have its answer. */
  readonly untilMs: number;
  /** When it is asked about for the last time. */
  lastAskMs: number;
  isLast: boolean;
  isAsked: boolean;
  /** What it may take of, while it is asked about. */
  turn: readonly string[];
  readonly waiters: ((waited: WaitedVerdict) => void)[];
  /** The questions that have gone are no reason to ask on. */
  listeners: number;
}

/** What is known of a counter for which jobs wait: when they are asked about again, and how long the pause after that is. */
interface LinePace {
  readonly pauseMs: number;
  readonly nextMs: number;
}

/** Group commit with patience: what only limits that wait refuse is asked about again, a few jobs of each line at a time. */
export class WaitingQueue {
  readonly #deps: WaitingDeps;
  /** Made when the first job waits. */
  #madeOrder: FairOrder | undefined;
  readonly #jobs = new Map<number, WaitingJob>();
  readonly #lines = new Map<string, LinePace>();
  #cancel = (): void => {};
  #isRoundSoon = false;
  #isLeaving = false;

  constructor(deps: WaitingDeps) {
    this.#deps = deps;
  }

  /** Jobs that wait. */
  get size(): number {
    return this.#madeOrder?.size ?? 0;
  }

  /** The longest, at most {@link WAITING_LINES_MAX}, in the order of their turns. */
  longestLines(): readonly WaitingLine[] {
    const nowMs = this.#nowMs();
    const lines = new Map<string, { root: string; counter: string; jobs: number; longestMs: number }>();
    for (const { jobId, root, counters } of this.#madeOrder?.places ?? []) {
      const waitedMs = Math.round(nowMs - (this.#jobs.get(jobId)?.sinceMs ?? nowMs));
      for (const counter of counters) {
        const line = lines.get(`${root} ${counter}`) ?? { root, counter, jobs: 0, longestMs: 0 };
        line.jobs += 1;
        line.longestMs = Math.max(line.longestMs, waitedMs);
        lines.set(`${root} ${counter}`, line);
      }
    }
    const inTurn = [...lines.values()];
    const longest = new Set(inTurn.toSorted((a, b) => b.jobs - a.jobs).slice(0, WAITING_LINES_MAX));
    return inTurn.filter((line) => longest.has(line));
  }

  /** Always resolves, by `answerWithinMs` after the question. */
  async decide(request: AdmissionRequest, asker: Asker): Promise<WaitedVerdict> {
    const { commit, deadlineMs } = this.#deps;
    const verdict = await commit.decide(request, asker.arrivedAtMs + deadlineMs, asker.sent);
    if (verdict.outcome !== 'waiting') return { verdict };
    this.#deps.noted?.(request, verdict);
    return this.#wait(request, verdict, asker);
  }

  /** What a batch tells the function of those that wait. */
  terms(jobIds: readonly number[]): WaitingTerms {
    if (this.#jobs.size === 0 && !this.#isFull) return {};
    const nowMs = this.#nowMs();
    const lines = new Set<string>();
    const add = (names: readonly string[]): void => {
      for (const name of names) if (lines.size < LINES_MAX) lines.add(name);
    };
    const jobs = jobIds.flatMap((jobId) => {
      const job = this.#jobs.get(jobId);
      if (job === undefined) return this.#isFull ? [{ jobId, waitedMs: 0, last: true as const }] : [];
      const turn = job.isAsked ? job.turn : [];
      add(turn);
      const waitedMs = Math.max(0, Math.round(nowMs - job.sinceMs));
      return [
        { jobId, waitedMs, ...(turn.length > 0 && { turn }), ...(job.isLast && { last: true as const }) },
      ];
    });
    for (const { counters } of this.#order.places) add(counters);
    return { ...(lines.size > 0 && { lines: [...lines] }), ...(jobs.length > 0 && { jobs }) };
  }

  /** Those that wait first, in the order of their turns: the function takes them as they come. */
  inTurn<Job extends { readonly request: Pick<AdmissionRequest, 'jobId'> }>(
    jobs: readonly Job[],
  ): readonly Job[] {
    if (this.size === 0) return jobs;
    const tagOf = ({ request: { jobId } }: Job): number =>
      this.#jobs.get(jobId)?.place?.tag ?? Number.MAX_SAFE_INTEGER;
    return jobs.toSorted((a, b) => tagOf(a) - tagOf(b));
  }

  /** Nobody begins to wait any more; who waits is asked about a last time within three seconds. */
  leave(): void {
    this.#isLeaving = true;
    const lastMs = this.#nowMs() + LEAVING_MS;
    for (const job of this.#jobs.values()) job.lastAskMs = Math.min(job.lastAskMs, lastMs);
    this.#roundSoon();
  }

  get #order(): FairOrder {
    this.#madeOrder ??= new FairOrder(this.#deps.weightOf);
    return this.#madeOrder;
  }

  get #isFull(): boolean {
    return this.#isLeaving || this.size >= WAITING_MAX || this.#deps.isRejecting?.() === false;
  }

  #wait(request: AdmissionRequest, answer: WaitingAnswer, asker: Asker): Promise<WaitedVerdict> {
    return new Promise((resolve) => {
      const known = this.#jobs.get(request.jobId);
      const job = known ?? this.#begin(request, answer, asker);
      job.waiters.push(resolve);
      job.listeners += 1;
      asker.listenForEnd(() => {
        job.listeners -= 1;
        if (job.listeners === 0 && !job.isAsked) this.#end(job, undecided('abandoned'));
      });
      this.#roundSoon();
    });
  }

  #begin(request: AdmissionRequest, { leftMs, counters }: WaitingAnswer, asker: Asker): WaitingJob {
    const { answerWithinMs } = this.#deps;
    const nowMs = this.#nowMs();
    const root = requestRootOf(request);
    const mayWait = !this.#isFull && this.#order.countOf(root) < WAITING_OF_ROOT_MAX;
    const untilMs = asker.arrivedAtMs + answerWithinMs;
    const patientMs = untilMs - Math.min(LAST_MS, answerWithinMs / 2);
    const job: WaitingJob = {
      request,
      place: mayWait ? this.#order.join(request.jobId, root, counters) : undefined,
      sinceMs: nowMs,
      untilMs,
      lastAskMs: mayWait ? Math.min(nowMs + leftMs, patientMs) : nowMs,
      ...{ isLast: false, isAsked: false, turn: [], waiters: [], listeners: 0 },
    };
    this.#jobs.set(request.jobId, job);
    if (mayWait) {
      // It has just been asked about; a line that is there already keeps its own pace.
      this.#stands(counters.filter((name) => !this.#lines.has(name)));
      this.#tell();
    }
    return job;
  }

  /** Once for all answers of a batch. */
  #roundSoon(): void {
    if (this.#isRoundSoon) return;
    this.#isRoundSoon = true;
    this.#deps.clock.after(1, () => {
      this.#isRoundSoon = false;
      this.#round();
    });
  }

  /** Asks about everybody whose time it is, and plans the next round. */
  #round(): void {
    this.#cancel();
    const nowMs = this.#nowMs();
    let nextMs = Number.POSITIVE_INFINITY;
    let asked = 0;
    const due: WaitingJob[] = [];
    for (const job of this.#jobs.values()) {
      if (job.isAsked) asked += 1;
      else if (job.lastAskMs <= nowMs) this.#ask(job, 'last');
      else nextMs = Math.min(nextMs, job.lastAskMs);
    }
    for (const place of this.#order.turns()) {
      const job = this.#jobs.get(place.jobId);
      if (job === undefined || job.isAsked || asked >= ASKED_MAX) continue;
      const dueMs = Math.max(...place.counters.map((name) => this.#lines.get(name)?.nextMs ?? 0));
      if (dueMs > nowMs) nextMs = Math.min(nextMs, dueMs);
      else {
        due.push(job);
        asked += 1;
      }
    }
    this.#joinLanes(due);
    for (const job of due) this.#ask(job, 'again');
    if (Number.isFinite(nextMs))
      this.#cancel = this.#deps.clock.after(Math.max(1, Math.ceil(nextMs - nowMs)), () => this.#round());
  }

  #joinLanes(jobs: readonly WaitingJob[]): void {
    const roots = new Map<string, Set<string>>();
    for (const { place } of jobs)
      for (const name of place?.counters ?? [])
        roots.set(name, (roots.get(name) ?? new Set()).add(place?.root ?? ''));
    for (const [name, of] of roots) if (of.size > 1) this.#deps.lanes?.noteContended(name, [...of]);
  }

  #ask(job: WaitingJob, how: 'again' | 'last'): void {
    const { commit, deadlineMs, clock } = this.#deps;
    const { place, request, untilMs } = job;
    job.isAsked = true;
    job.isLast = how === 'last';
    const isItsTurn = place !== undefined && this.#order.mayPass(place);
    job.turn = isItsTurn ? place.counters : [];
    if (isItsTurn) this.#order.asked(place);
    void commit
      .decide(request, Math.min(untilMs, clock.monotonicMs() + deadlineMs))
      .then((verdict) => this.#answered(job, verdict));
  }

  #answered(job: WaitingJob, verdict: LedgerVerdict): void {
    job.isAsked = false;
    const { place } = job;
    if (place !== undefined) {
      this.#order.answered(place, verdict.outcome === 'admitted' ? 'admitted' : 'refused');
      if (verdict.outcome === 'admitted') this.#moves(place.counters);
    }
    if (verdict.outcome !== 'waiting') this.#end(job, verdict);
    else if (job.isLast || place === undefined) this.#end(job, undecided('malformed'));
    else this.#goOn(job, place, verdict);
  }

  #goOn(job: WaitingJob, place: Place, answer: WaitingAnswer): void {
    const nowMs = this.#nowMs();
    const { counters: before } = place;
    this.#deps.noted?.(job.request, answer);
    place.counters = answer.counters;
    this.#stands(answer.counters);
    this.#forgetLines(before);
    job.lastAskMs = Math.min(job.lastAskMs, nowMs + answer.leftMs);
    if (job.listeners === 0) this.#end(job, undecided('abandoned'));
    else if (job.untilMs - nowMs < SEND_MS_MIN) this.#end(job, undecided('deadline'));
    else this.#roundSoon();
  }

  /** Somebody of these lines was admitted: the next are asked about at once. */
  #moves(counters: readonly string[]): void {
    const nextMs = this.#nowMs();
    for (const name of counters) this.#lines.set(name, { pauseMs: ROUND_MS_MIN, nextMs });
  }

  /** Nobody was: the next round comes after a longer pause than this one. */
  #stands(counters: readonly string[]): void {
    const nowMs = this.#nowMs();
    for (const name of counters) {
      const { pauseMs, nextMs } = this.#lines.get(name) ?? { pauseMs: ROUND_MS_MIN, nextMs: nowMs };
      if (nextMs > nowMs) continue;
      this.#lines.set(name, {
        pauseMs: Math.min(ROUND_MS_MAX, pauseMs * 2),
        nextMs: nowMs + pauseMs,
      });
    }
  }

  #end(job: WaitingJob, verdict: FinalVerdict): void {
    if (this.#jobs.get(job.request.jobId) !== job) return;
    this.#jobs.delete(job.request.jobId);
    const { place } = job;
    if (place !== undefined) {
      this.#order.leave(place);
      this.#forgetLines(place.counters);
      this.#tell();
    }
    const waitedMs = this.#nowMs() - job.sinceMs;
    for (const resolve of job.waiters) resolve({ verdict, ...(place !== undefined && { waitedMs }) });
    this.#roundSoon();
  }

  #forgetLines(counters: readonly string[]): void {
    for (const name of counters)
      if (!this.#order.places.some((other) => other.counters.includes(name))) this.#lines.delete(name);
  }

  #tell(): void {
    this.#deps.observe({ type: 'waiting', jobs: this.size });
  }

  #nowMs(): number {
    return this.#deps.clock.monotonicMs();
  }
}
