/**
 * 3: the answer to a job agrees with its record, and a rejection with the counters it names. Where no other request and no
 * fault comes between, the answer is known before it is given.
 */
import type { HoldOutcome, JobRecord } from '../../functions/core/ledger/ledger.ts';
import type { Violation } from '../../policies/reason.ts';
import { askedClaims, type BirthDeps } from './birth.ts';
import { type Books, isReserved, type OpenCall } from './books.ts';
import { must } from './findings.ts';
import type { TrueJob } from './gitlab.ts';
import {
  type ExpectedAsk,
  expectedVerdict,
  expectedWaitMs,
  neverFits,
  type Sums,
} from './rulebook/asked-claims.ts';
import { REJECTION_STANDS_MS } from './rulebook/charges.ts';
import type { RuleSet } from './rulebook/rule-set.ts';

interface AnswersOptions extends BirthDeps {
  readonly books: Books;
}

/** The place of a job in a relay's wait queues. */
export interface ExpectedTurn {
  readonly waitedMs: number;
  readonly isLast: boolean;
  readonly awaited: ReadonlySet<string>;
}

interface Asked {
  readonly call: OpenCall;
  readonly atMs: number;
  readonly records: ReadonlyMap<number, JobRecord | undefined>;
}

export interface Prediction {
  readonly ask: ExpectedAsk;
  readonly state: 'admitted' | 'rejected';
  readonly generation: number;
  readonly isRepeated: boolean;
  readonly refusedBy: readonly string[];
  readonly fitted: readonly boolean[];
  readonly waitMs: number;
}

const NEVER_WAITED: ExpectedTurn = { waitedMs: 0, isLast: false, awaited: new Set() };

export class ExpectedAnswers {
  readonly #options: AnswersOptions;

  constructor(options: AnswersOptions) {
    this.#options = options;
  }

  askOf(job: TrueJob, ruleSet: RuleSet, atMs: number): ExpectedAsk {
    const seconds = this.#options.estimates.secondsOf(job);
    return askedClaims(ruleSet).of(job, ruleSet.groupOf.get(job.projectId) ?? 0, atMs, seconds);
  }

  /** One batch in the order of its requests: an admitted job takes the room of those behind. Undefined: not known before. */
  predict(
    jobs: readonly TrueJob[],
    ruleSet: RuleSet,
    atMs: number,
    turnOf?: (jobId: number) => ExpectedTurn,
  ): readonly (Prediction | undefined)[] {
    const { books } = this.#options;
    const taken = new Map<string, Sums>();
    const isUncertain =
      new Set(jobs).size < jobs.length ||
      [...books.due.keys()].some((jobId) => isReserved(books.records.get(jobId))) ||
      jobs.some(({ jobId }) => books.records.get(jobId)?.state === 'EXPIRED');
    return jobs.map((job) => {
      if (isUncertain) return undefined;
      const known = books.records.get(job.jobId);
      const ask = this.askOf(job, ruleSet, atMs);
      const past = known?.generation ?? 0;
      const isLive = known !== undefined && ['HELD', 'RUNNING', 'SETTLED'].includes(known.state);
      if (known !== undefined && (isLive || stands(known, atMs))) {
        const state = isLive ? 'admitted' : 'rejected';
        const born = books.birth(known).ask;
        return { ask: born, state, generation: past, isRepeated: true, refusedBy: [], fitted: [], waitMs: 0 };
      }
      const shows = (counter: string): Sums => {
        const { committed, fitted } = books.sumsOf(counter);
        const more = taken.get(counter);
        return more === undefined
          ? { committed, fitted }
          : { committed: committed + more.committed, fitted: fitted + more.fitted };
      };
      const { waitedMs, isLast, awaited } = turnOf?.(job.jobId) ?? NEVER_WAITED;
      const { refusedBy, fitted } = expectedVerdict(ask.claims, shows, awaited);
      if (refusedBy.length === 0) take(ask, fitted, taken);
      const waitMs = isLast || turnOf === undefined ? 0 : expectedWaitMs(ask.claims, refusedBy, waitedMs);
      const state = refusedBy.length === 0 ? 'admitted' : 'rejected';
      return { ask, state, generation: past + 1, isRepeated: false, refusedBy, fitted, waitMs };
    });
  }

  check({ jobId }: TrueJob, outcome: HoldOutcome, asked: Asked, nowMs: number): void {
    if (outcome.outcome === 'waiting') {
      const isUnwritten = this.#options.books.records.get(jobId) === asked.records.get(jobId);
      must(isUnwritten, `job ${jobId} waits, and a record was written`);
      return;
    }
    if (outcome.outcome === 'undecided') {
      must(outcome.cause !== 'error', `job ${jobId} is undecided: ${outcome.cause}`);
      return;
    }
    const { books } = this.#options;
    const { generation } = outcome;
    const birth = books.births.get(`${jobId}/${generation}`);
    const now = books.records.get(jobId);
    const before = asked.records.get(jobId);
    const ageMs = nowMs - (before?.decidedAtMs ?? 0);
    const stood = before !== undefined && stands(before, asked.atMs) && stands(before, nowMs);
    const isNew = birth?.call === asked.call.id && generation === (before?.generation ?? 0) + 1;
    must(!(stood && isNew), `job ${jobId} was rejected ${ageMs} ms ago and is evaluated again`);
    if (outcome.outcome === 'admitted') {
      const ran = now?.generation === generation && now.state === 'SETTLED';
      must(
        birth !== undefined && (birth.state !== 'REJECTED' || ran),
        `job ${jobId} was admitted on ${birth?.state}`,
      );
      return;
    }
    // A job larger than its limit is rejected without the table, whatever its record says.
    const withoutCounters = outcome.violations.some(({ reason }) => reason.code === 'EXCEEDS_LIMIT_ALONE');
    if (birth?.state !== 'REJECTED' && !withoutCounters) {
      const liveSince = books.liveSince.get(jobId) ?? Number.POSITIVE_INFINITY;
      must(liveSince > asked.call.commit, `job ${jobId} was held when asked and yet rejected`);
    }
    const isAgain = before?.state === 'REJECTED' && before.generation === generation && !withoutCounters;
    must(
      !isAgain || stands(before, asked.atMs) || stands(before, nowMs),
      `job ${jobId} was rejected ${ageMs} ms ago and is so again`,
    );
  }

  checkExactly(job: TrueJob, outcome: HoldOutcome, expected: Prediction | undefined): void {
    if (expected === undefined) {
      must(outcome.outcome !== 'undecided', `nothing disturbed job ${job.jobId}, and it is undecided`);
      return;
    }
    const { state, generation, isRepeated, refusedBy, waitMs } = expected;
    const words =
      waitMs > 0
        ? `that it waits ${waitMs} ms at most for ${refusedBy}`
        : `${isRepeated ? 'again ' : ''}${state} as generation ${generation} (${refusedBy})`;
    if (outcome.outcome === 'waiting') {
      const isSo = outcome.leftMs === waitMs && String(outcome.counters) === String(refusedBy);
      const { leftMs, counters } = outcome;
      must(isSo, `job ${job.jobId} waits ${leftMs} ms for ${counters}, expected ${words}`);
      return;
    }
    const found = outcome.outcome === 'undecided' ? outcome.cause : outcome.generation;
    must(
      waitMs === 0 && outcome.outcome === state && outcome.generation === generation,
      `job ${job.jobId} is ${outcome.outcome} as generation ${found}, expected ${words}`,
    );
    if (isRepeated) return;
    if (outcome.outcome === 'rejected') checkReasons(job.jobId, expected, outcome.violations);
    if (outcome.outcome !== 'admitted') return;
    const { claims = [] } = this.#options.books.records.get(job.jobId) ?? {};
    const fitted = new Map(
      claims.map(({ counter, fitted }) => [`${counter.subject}|${counter.limit}|${counter.period}`, fitted]),
    );
    for (const [index, { counter }] of expected.ask.claims.entries())
      must(
        fitted.get(counter) === expected.fitted[index],
        `job ${job.jobId} fits ${counter}: ${fitted.get(counter)}`,
      );
  }
}

const stands = ({ state, violations, decidedAtMs }: JobRecord, nowMs: number): boolean =>
  state === 'REJECTED' && violations.length > 0 && Math.abs(nowMs - decidedAtMs) < REJECTION_STANDS_MS;

function take(ask: ExpectedAsk, fitted: readonly boolean[], taken: Map<string, Sums>): void {
  for (const [index, { counter, amount }] of ask.claims.entries()) {
    const before = taken.get(counter) ?? { committed: 0, fitted: 0 };
    taken.set(counter, {
      committed: before.committed + amount,
      fitted: before.fitted + (fitted[index] === true ? amount : 0),
    });
  }
}

/** Every reason names a limit that refuses the job, with its figures. A limit smaller than the job is always named. */
function checkReasons(jobId: number, { ask, refusedBy }: Prediction, violations: readonly Violation[]): void {
  const refusing = ask.claims.filter(({ counter }) => refusedBy.includes(counter));
  const named = new Set<string>();
  for (const { reason } of violations) {
    const claim =
      'limit' in reason
        ? refusing.find(({ counter }) => counter.startsWith(`${reason.subject}|${reason.limit}|`))
        : undefined;
    if (claim === undefined || !('limit' in reason))
      throw new Error(`job ${jobId} is rejected for ${reason.code}, expected ${refusedBy}`);
    named.add(claim.counter);
    must(
      reason.limitAmount === claim.bound && reason.asked === claim.amount,
      `job ${jobId}: ${reason.asked} of ${reason.limitAmount} on ${claim.counter}, expected ${claim.amount} of ${claim.bound}`,
    );
  }
  must(violations.length > 0, `job ${jobId} is rejected without a reason`);
  const unnamed = refusing.find((claim) => neverFits(claim) && !named.has(claim.counter));
  must(unnamed === undefined, `job ${jobId} is larger than ${unnamed?.counter}, which no reason names`);
}
