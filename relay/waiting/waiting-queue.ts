/** Keeps questions open whose jobs wait for room, and asks again as room comes back. */
import type {
  LimitRoom,
  WaitingAnswer,
  WaitingLine,
  WaitingTerms,
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
import { LineRounds } from './line-rounds.ts';
import { longestLines, slotsLeft, type WaitedVerdict, type WaitingJob, waitingTerms } from './waiting-job.ts';

/** Each keeps a stream open. More than these are rejected at once, of one root and of all. */
export const WAITING_MAX = 256;
export const WAITING_OF_ROOT_MAX = 64;
/** Jobs asked about at once: one batch. */
const ASKED_MAX = 96;
/** The last question must be answered, too. */
const LAST_MS = 1_000;
/** A relay that stops has 6 s for its decisions. */
const LEAVING_MS = 3_000;

export interface WaitingDeps {
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

/** Group commit with patience: what only limits that wait refuse is asked about again, a few jobs of each line at a time. */
export class WaitingQueue {
  readonly #deps: WaitingDeps;
  /** Made when the first job waits. */
  #madeOrder: FairOrder | undefined;
  readonly #jobs = new Map<number, WaitingJob>();
  readonly #rounds = new LineRounds();
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

  /** The longest, in the order of their turns. */
  longestLines(): readonly WaitingLine[] {
    return longestLines(this.#madeOrder?.places ?? [], this.#jobs, this.#nowMs());
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
    const { places } = this.#order;
    return waitingTerms(jobIds, { jobs: this.#jobs, places, isFull: this.#isFull, nowMs: this.#nowMs() });
  }

  /** What an answer about any job told of limits: the line that waits for what has come free is asked about at once. */
  roomTold(rooms: readonly LimitRoom[]): void {
    if (this.size === 0) return;
    const nowMs = this.#nowMs();
    const sooner = rooms.filter((room) => {
      const slots = slotsLeft(room);
      return slots !== undefined && this.#rounds.told(slots.name, slots.left, nowMs);
    });
    if (sooner.length > 0) this.#roundSoon();
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
      this.#rounds.begin(counters, nowMs);
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
      if (job?.isAsked !== false || asked >= ASKED_MAX) continue;
      const dueMs = this.#rounds.nextMs(place.counters);
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
      if (verdict.outcome === 'admitted') this.#rounds.moved(place.counters, this.#nowMs());
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
    this.#rounds.stood(answer.counters, nowMs);
    this.#rounds.forget(before, this.#order.places);
    job.lastAskMs = Math.min(job.lastAskMs, nowMs + answer.leftMs);
    if (job.listeners === 0) this.#end(job, undecided('abandoned'));
    else if (job.untilMs - nowMs < SEND_MS_MIN) this.#end(job, undecided('deadline'));
    else this.#roundSoon();
  }

  #end(job: WaitingJob, verdict: FinalVerdict): void {
    if (this.#jobs.get(job.request.jobId) !== job) return;
    this.#jobs.delete(job.request.jobId);
    const { place } = job;
    if (place !== undefined) {
      this.#order.leave(place);
      this.#rounds.forget(place.counters, this.#order.places);
      this.#tell();
    }
    const waitedMs = this.#nowMs() - job.sinceMs;
    for (const resolve of job.waiters) resolve({ verdict, ...(place !== undefined && { waitedMs }) });
    this.#roundSoon();
  }

  #tell(): void {
    this.#deps.observe({ type: 'waiting', jobs: this.size });
  }

  #nowMs(): number {
    return this.#deps.clock.monotonicMs();
  }
}
