/** Compares how jobs wait at each relay with what is promised of it: for how long, in which order, and for what. */
import { LINES_MAX, type WaitingTerms } from '../../../functions/core/contract/index.ts';
import type { HoldOutcome } from '../../../functions/core/ledger/index.ts';
import { WAITING_OF_ROOT_MAX } from '../../../relay/waiting/wait-queue.ts';
import type { PlannedJob } from './draw-jobs.ts';
import type { ExpectedAsk } from './expected/asked-claims.ts';
import type { ExpectedBooks } from './expected/books.ts';
import { expectedVerdictOn } from './expected/verdict.ts';
import { type ExpectedWaiter, WaitingJobs } from './expected/waiting-jobs.ts';
import type { Findings } from './findings.ts';
import type { EditionInForce } from './in-force.ts';
import type { RelayAnswer } from './simulated-relay.ts';
import { TABLE_SILENT, WAITS } from './workload.ts';

/** What the function should take a job to have been told. */
export interface ExpectedTurn {
  readonly waitedMs: number;
  /** It is admitted or rejected now. */
  readonly isLast: boolean;
  /** Others, or itself out of its turn, wait for these. */
  readonly spokenFor: ReadonlySet<string>;
}

interface ExpectedWaitsDeps {
  readonly books: ExpectedBooks;
  readonly inForce: EditionInForce;
  readonly findings: Findings;
  readonly clock: { nowMs(): number };
  readonly askOf: (job: PlannedJob, atMs: number) => ExpectedAsk;
}

/** Questions that come within a quarter of a second are one batch, and a table that fails is asked for two seconds. */
const LATE_MS = 2_500;

export class ExpectedWaits {
  readonly #deps: ExpectedWaitsDeps;
  readonly #relays = [new WaitingJobs(WAITS.answerWithinMs), new WaitingJobs(WAITS.answerWithinMs)] as const;
  readonly #planned = new Map<number, PlannedJob>();
  readonly counts = { waited: 0, admitted: 0, rejected: 0, longestMs: 0 };

  constructor(deps: ExpectedWaitsDeps) {
    this.#deps = deps;
  }

  /** What a relay has to tell of a job; what it does tell says only whose turn it is, and what was the last question. */
  turnOf(relay: number, jobId: number, { lines = [], jobs = [] }: WaitingTerms): ExpectedTurn {
    const waiting = this.#at(relay);
    const job = waiting.get(jobId);
    const { turn = [], last: isLast = false, waitedMs = 0 } = jobs.find((each) => each.jobId === jobId) ?? {};
    // A relay that names as many as it may leaves out the others.
    const awaited = waiting.awaited.size < LINES_MAX ? waiting.awaited : new Set(lines);
    const spokenFor = new Set([...awaited].filter((name) => !turn.includes(name)));
    if (job === undefined) return { waitedMs: 0, isLast, spokenFor };
    const nowMs = this.#deps.clock.nowMs();
    this.#deps.findings.compared('waits', this.#otherTurn(job, turn, isLast && nowMs < job.untilMs));
    // A relay's clock has parts of milliseconds.
    const isSo = Math.abs(nowMs - job.sinceMs - waitedMs) <= 1;
    return { waitedMs: isSo ? waitedMs : nowMs - job.sinceMs, isLast, spokenFor };
  }

  #otherTurn({ jobId, counters, untilMs }: ExpectedWaiter, turn: readonly string[], isEarly: boolean) {
    const foreign = turn.find((name) => !counters.includes(name));
    if (foreign !== undefined) return `job ${jobId} may take of ${foreign}, for which it does not wait`;
    return isEarly
      ? `job ${jobId} is asked about for the last time, and may wait until ${new Date(untilMs).toISOString()}`
      : undefined;
  }

  /** The function lets it wait. */
  waits(
    relay: number,
    job: PlannedJob,
    {
      askedAtMs,
      counters,
      leftMs,
    }: { readonly askedAtMs: number; readonly counters: readonly string[]; readonly leftMs: number },
  ): void {
    const nowMs = this.#deps.clock.nowMs();
    const waiting = this.#at(relay);
    if (waiting.get(job.jobId) === undefined) this.counts.waited += 1;
    this.#planned.set(job.jobId, job);
    const rootId = this.#rootOf(job);
    waiting.waits({ jobId: job.jobId, rootId, askedAtMs }, counters, leftMs, nowMs);
    if ([...waiting.all].filter((other) => other.rootId === rootId).length > WAITING_OF_ROOT_MAX)
      this.#deps.findings.compared('waits', `job ${job.jobId} waits, and too many of its root group do`);
  }

  /** The function lets it go on, with a decision of now. */
  admitted(relay: number, job: PlannedJob, ask: ExpectedAsk): void {
    const counters = ask.claims.map(({ counter }) => counter);
    const passed = this.#at(relay).wentOn(job.jobId, this.#rootOf(job), counters);
    if (passed === undefined) return;
    this.#deps.findings.compared('waits', `job ${passed.jobId} is passed too often, at last by ${job.jobId}`);
  }

  /** The router has its answer. */
  answered(relay: number, { question, outcome, leftBy }: RelayAnswer): void {
    const { jobId } = question.job;
    const { findings, clock } = this.#deps;
    if (leftBy !== undefined) findings.compared('waits', `job ${jobId} is left to the fallback: ${leftBy}`);
    const job = this.#at(relay).get(jobId);
    if (job === undefined) return;
    this.#at(relay).left(jobId);
    const tookMs = clock.nowMs() - job.askedAtMs;
    findings.compared(
      'waits',
      tookMs > WAITS.answerWithinMs + LATE_MS ? `job ${jobId} was answered after ${tookMs} ms` : undefined,
    );
    this.#count(outcome, clock.nowMs() - job.sinceMs);
  }

  #count({ outcome }: HoldOutcome, waitedMs: number): void {
    if (outcome === 'admitted' || outcome === 'rejected') this.counts[outcome] += 1;
    this.counts.longestMs = Math.max(this.counts.longestMs, waitedMs);
  }

  /** Nobody listens there any more: to this job, or to any. */
  gone(relay: number, jobId?: number): void {
    if (jobId === undefined) this.#at(relay).clear();
    else this.#at(relay).left(jobId);
  }

  /** Now and then. */
  look(): void {
    const { clock, findings } = this.#deps;
    const nowMs = clock.nowMs();
    const isSilent = nowMs >= TABLE_SILENT.fromMs && nowMs < TABLE_SILENT.untilMs + WAITS.answerWithinMs;
    for (const waiting of this.#relays) {
      if (waiting.size === 0 || isSilent) continue;
      const job = waiting.besideRoom((each) => this.#fits(each, nowMs), nowMs);
      if (job !== undefined) findings.compared('waits', `job ${job.jobId} waits beside room for it`);
    }
  }

  #fits({ jobId }: ExpectedWaiter, nowMs: number): boolean {
    const { books, askOf } = this.#deps;
    const planned = this.#planned.get(jobId);
    if (planned === undefined) return false;
    const { claims } = askOf(planned, nowMs);
    return expectedVerdictOn(claims, (counter) => books.shows(counter)).refusedBy.length === 0;
  }

  #rootOf(job: PlannedJob): number {
    return this.#deps.inForce.now.tree.placeOf(job).groupIds[0] ?? 0;
  }

  #at = (relay: number): WaitingJobs => (relay === 0 ? this.#relays[0] : this.#relays[1]);
}
