/** What every question should be answered, found before it is asked, and what was answered. */
import type { HoldOutcome } from '../../../functions/core/ledger/index.ts';
import type { Violation } from '../../../policies/reason.ts';
import type { PlannedJob } from './draw-jobs.ts';
import type { AskedJob, ExpectedAsk } from './expected/asked-claims.ts';
import { type ExpectedBooks, type ExpectedJob, stands } from './expected/books.ts';
import type { RunEstimates } from './expected/run-estimates.ts';
import { expectedVerdictOn, expectedWaitMs, neverFits } from './expected/verdict.ts';
import type { ExpectedTurn } from './expected-waits.ts';
import type { Findings } from './findings.ts';
import type { EditionInForce } from './in-force.ts';
import { askedJobOf } from './question.ts';

interface ExpectedAnswer {
  readonly job: PlannedJob;
  /** The decision it is, or the one that stands. */
  readonly decision: ExpectedJob;
  /** It was decided before. */
  readonly isRepeated: boolean;
  /** It is not decided yet, and waits for so long at the most. 0: it is. */
  readonly waitMs: number;
}

interface ExpectedAnswersDeps {
  readonly books: ExpectedBooks;
  readonly estimates: RunEstimates;
  readonly inForce: EditionInForce;
  readonly findings: Findings;
}

export class ExpectedAnswers {
  readonly #deps: ExpectedAnswersDeps;
  /** Decisions that the table has yet to tell of, by job. */
  readonly decisions = new Map<number, ExpectedJob>();

  constructor(deps: ExpectedAnswersDeps) {
    this.#deps = deps;
  }

  /** One batch, in the order of its questions: who is admitted takes the room of those behind. */
  before(
    jobs: readonly PlannedJob[],
    atMs: number,
    turnOf: (jobId: number) => ExpectedTurn,
  ): readonly ExpectedAnswer[] {
    const { books } = this.#deps;
    const taken = new Map<string, { committed: number; fitted: number }>();
    return jobs.map((job) => {
      const known = books.jobs.get(job.jobId);
      if (known !== undefined && stands(known, atMs))
        return { job, decision: known, isRepeated: true, waitMs: 0 };
      const { waitedMs, isLast, spokenFor } = turnOf(job.jobId);
      const ask = this.askOf(job, atMs);
      const shows = (counter: string) => {
        const { committed, fitted: before } = books.shows(counter);
        const more = taken.get(counter);
        return more === undefined
          ? { committed, fitted: before }
          : { committed: committed + more.committed, fitted: before + more.fitted };
      };
      const { refusedBy, fitted } = expectedVerdictOn(ask.claims, shows, spokenFor);
      const decision = this.#decision(job, ask, { refusedBy, fitted }, (known?.generation ?? 0) + 1);
      if (decision.state === 'HELD') take(decision, taken);
      const waitMs = isLast ? 0 : expectedWaitMs(ask.claims, refusedBy, waitedMs);
      // Nothing is written of a job that waits.
      if (waitMs > 0) this.decisions.delete(job.jobId);
      else this.decisions.set(job.jobId, decision);
      return { job, decision, isRepeated: false, waitMs };
    });
  }

  /** @param mayBeUndecided - the table was silent, or failed on the way. */
  after(
    expected: readonly ExpectedAnswer[],
    outcomes: readonly HoldOutcome[],
    mayBeUndecided: boolean,
  ): void {
    expected.forEach((each, index) => {
      const outcome = outcomes[index];
      this.#deps.findings.compared('answers', otherwise(each, outcome, mayBeUndecided));
    });
  }

  jobOf(job: PlannedJob): AskedJob {
    return askedJobOf(job, this.#deps.inForce.now.tree);
  }

  askOf(job: PlannedJob, atMs: number): ExpectedAsk {
    const mine = this.jobOf(job);
    return this.#deps.inForce.now.asked.of(mine, atMs, this.#deps.estimates.secondsOf(mine));
  }

  #decision(
    job: PlannedJob,
    ask: ExpectedAsk,
    { refusedBy, fitted }: Pick<ExpectedJob, 'refusedBy' | 'fitted'>,
    generation: number,
  ): ExpectedJob {
    const isHeld = refusedBy.length === 0;
    const held = ask.claims.map(({ amount }) => (isHeld ? amount : 0));
    return {
      job: this.jobOf(job),
      generation,
      state: isHeld ? 'HELD' : 'REJECTED',
      ask,
      fitted: isHeld ? fitted : fitted.map(() => false),
      checked: ask.claims.map((claim) => claim.bound !== undefined && !neverFits(claim)),
      held,
      counted: held,
      ...(ask.exempt && { uncheckedBy: 'exempt' as const }),
      refusedBy,
      seconds: 0,
    };
  }
}

function take(
  { ask, held, fitted }: ExpectedJob,
  taken: Map<string, { committed: number; fitted: number }>,
): void {
  ask.claims.forEach(({ counter }, index) => {
    const amount = held[index] ?? 0;
    const sums = taken.get(counter) ?? { committed: 0, fitted: 0 };
    taken.set(counter, sums);
    sums.committed += amount;
    if (fitted[index] === true) sums.fitted += amount;
  });
}

function otherwise(
  { job, decision, isRepeated, waitMs }: ExpectedAnswer,
  outcome: HoldOutcome | undefined,
  mayBeUndecided: boolean,
): string | undefined {
  const { state, generation, refusedBy } = decision;
  const expected =
    waitMs > 0
      ? `that it waits ${waitMs} ms at most for ${refusedBy}`
      : `${isRepeated ? 'again ' : ''}${state} as generation ${generation}`;
  if (outcome === undefined || outcome.outcome === 'undecided')
    return mayBeUndecided ? undefined : `job ${job.jobId} is undecided, expected ${expected}`;
  if (outcome.outcome === 'waiting') {
    const isSo = outcome.leftMs === waitMs && String(outcome.counters) === String(refusedBy);
    return isSo
      ? undefined
      : `job ${job.jobId} waits ${outcome.leftMs} ms for ${outcome.counters}, expected ${expected}`;
  }
  if (waitMs > 0) return `job ${job.jobId} is ${outcome.outcome}, expected ${expected}`;
  const isRejected = outcome.outcome === 'rejected';
  if (isRejected !== (state === 'REJECTED') || outcome.generation !== generation)
    return `job ${job.jobId} is ${outcome.outcome} as generation ${outcome.generation}, expected ${expected} (${refusedBy})`;
  return isRejected ? wrongReasons(decision, outcome.violations, outcome.repeated) : undefined;
}

/**
 * Every reason names a limit that refuses the job, with its figures. A limit that is smaller than the job is always named
 * in an answer that is not read back from its record, which has as many reasons as it has room for.
 */
function wrongReasons(
  { job: { jobId }, ask, refusedBy }: ExpectedJob,
  violations: readonly Violation[],
  isReadBack: boolean,
): string | undefined {
  const refusing = ask.claims.filter(({ counter }) => refusedBy.includes(counter));
  const told = new Set<string>();
  for (const { reason } of violations) {
    const claim =
      'limit' in reason
        ? refusing.find(({ counter }) => counter.startsWith(`${reason.subject}|${reason.limit}|`))
        : undefined;
    if (claim === undefined || !('limit' in reason))
      return `job ${jobId} is told ${reason.code}, and is rejected by ${refusedBy}`;
    told.add(claim.counter);
    const { limitAmount, asked } = reason;
    if (limitAmount !== claim.bound || asked !== claim.amount)
      return `job ${jobId} is told ${asked} of ${limitAmount} on ${claim.counter}, expected ${claim.amount} of ${claim.bound}`;
    if ('committed' in reason && reason.committed + asked <= limitAmount)
      return `job ${jobId} is told that ${asked} on top of ${reason.committed} do not fit ${limitAmount}`;
  }
  if (violations.length === 0) return `job ${jobId} is rejected without a reason`;
  if (isReadBack) return undefined;
  const untold = refusing.find((claim) => neverFits(claim) && !told.has(claim.counter));
  return untold && `job ${jobId} is not told that it is larger than ${untold.counter}`;
}
