import { capSpansRoots, endsByItself, isCap } from './limits/cap.ts';
import type { Limit, OutagePolicy } from './limits/limit.ts';
import type { RuleClass } from './mode.ts';
import type { Reason } from './reason.ts';
import type { AdmissionRequest } from './request/request.ts';
import type { Unit } from './units/unit.ts';

/** One limit × subject × period: the identity of a counter. */
export interface CounterKey {
  /** `subjectKey`, e.g. `group/101`. */
  readonly subject: string;
  /** The limit's stable id, e.g. `money-month`. */
  readonly limit: string;
  /** `periodAt`'s key, e.g. `2026-11`, `2026-W47`, `2026-Q1@04-06`; `now` for what is counted at once. */
  readonly period: string;
}

/** `group/101|money-month|2026-11`. */
export const counterName = (key: CounterKey): string => `${key.subject}|${key.limit}|${key.period}`;

/**
 * "Add this amount to that counter if it then stays within this bound." A claim without a bound adds without asking
 * (exempt, unmetered and bypass jobs). At the end of the job `micros` and `seconds` settle to the truth, what is in flight
 * is given back, and `starts` stay counted unless the job never ran.
 */
export interface Claim {
  readonly counter: CounterKey;
  readonly unit: Unit;
  /** Whole units, ≥ 0. */
  readonly amount: number;
  /**
   * Larger than its whole limit: it asks nothing, because the violation is told already, and counts in `committed` alone.
   * Whoever runs nevertheless (a rule that watches, a fallback, a bypass) is in the books.
   */
  readonly neverFits?: true;
  /** The effective mode: only `enforce` may refuse the job, the others count apart in `fitted`. */
  readonly mode: 'shadow' | 'warn' | 'enforce';
  /** The limit in force, > 0. A limit of 0 never becomes a claim: it is a violation at once. */
  readonly bound?: number;
  /** Only with mode `enforce`. */
  readonly grace?: Grace;
}

/** What a job of a pipeline that already runs may use on top: fewer pipelines end half done. */
export interface Grace {
  /** Above the claim's own bound. */
  readonly bound: number;
  /** Counts the pipeline's admitted jobs: it must show more than 0. */
  readonly pipeline: CounterKey;
}

/** A claim that can explain itself: the reason to give if its counter refuses it. Pure. */
export interface LimitClaim extends Claim {
  readonly rule: string;
  readonly class: RuleClass;
  refusal(seen: CounterSnapshot): Reason;
  /** Only with mode `enforce`; what a limit that only watches would say twice. */
  readonly soft?: SoftBound;
  /** How long a job is kept waiting that only such claims refuse. Only with mode `enforce`. Absent: it is rejected at once. */
  readonly waitMs?: number;
  /** In a cohort: what goes further than this, up to the bound, is borrowed. Only with mode `enforce`. */
  readonly own?: number;
  /** It counts what another claim of the job takes, or a part of that, in a counter of their cohort. */
  readonly part?: CohortPart;
  /** What becomes of such jobs while the counter cannot be asked. Absent: they are admitted. */
  readonly outage?: OutageTerms;
}

/**
 * The amount of a claim in a cohort comes first from what its group keeps for itself (`kept`), the rest from what all
 * members lend (`lent`). `cohort` counts all of it.
 */
export interface CohortPart {
  readonly of: CounterKey;
  readonly from: 'kept' | 'lent' | 'cohort';
}

interface OutageTerms {
  readonly policy: OutagePolicy;
  /** How long the counter's period is, ms; absent: it never starts anew. */
  readonly periodMs?: number;
}

/** The part of a limit from which on its owner is warned. It never refuses. */
export interface SoftBound {
  /** Below the claim's own bound. */
  readonly bound: number;
  /** The reason to note when the counter would pass it. */
  warning(seen: CounterSnapshot): Reason;
}

/** What a counter showed when it refused a claim. */
export interface CounterSnapshot {
  /** Settled + held. For shadow claims this is `fitted`: what would count had every refusal been enforced. */
  readonly committed: number;
  /** The part of `committed` that is final. */
  readonly settled: number;
  /** There is room, but others of the cohort use it. */
  readonly lentOut?: true;
}

const PIPELINE = 'pipeline/';
const OF_ONE_ROOT = ['group/', 'project/', PIPELINE];

/** Whether jobs of several root groups may claim it: the instance's, a runner class's, a runner's, a user's. No pipeline has two. */
export const spansRoots = ({ subject }: CounterKey): boolean =>
  isCap(subject) ? capSpansRoots(subject) : !OF_ONE_ROOT.some((kind) => subject.startsWith(kind));

/** How many jobs of a pipeline were admitted. Nobody limits it: it tells which pipelines run already. */
const pipelineKey = (pipelineId: number): CounterKey => ({
  subject: `${PIPELINE}${pipelineId}`,
  limit: 'grace',
  period: 'once',
});

/** A counter of a pipeline or merge request is of no use once that is over, and so garbage long before the records that made it. */
export const isPipelineCounter = ({ subject }: CounterKey): boolean =>
  subject.startsWith(PIPELINE) || endsByItself(subject);

/** A job that is charged without being asked takes nothing from its group's kept part, so its whole amount is lent. */
export const chargeable = <Each extends Pick<LimitClaim, 'part'>>(
  claims: readonly Each[],
): readonly Each[] =>
  claims.some(({ part }) => part !== undefined) ? claims.filter(({ part }) => part?.from !== 'kept') : claims;

/** A job of no known pipeline has no grace. */
export const graceOf = ({ graceAmount }: Limit, { pipelineId }: AdmissionRequest): Grace | undefined =>
  graceAmount === undefined || pipelineId === undefined
    ? undefined
    : { bound: graceAmount, pipeline: pipelineKey(pipelineId) };

/** The claim that counts a job for its pipeline; none where no claim has a grace. */
export function pipelineClaims(claims: readonly LimitClaim[]): readonly LimitClaim[] {
  const graced = claims.find(({ grace }) => grace !== undefined);
  return graced?.grace === undefined ? [] : [new PipelineClaim(graced, graced.grace.pipeline)];
}

class PipelineClaim implements LimitClaim {
  readonly counter: CounterKey;
  readonly unit = 'starts';
  readonly amount = 1;
  readonly mode = 'enforce';
  readonly rule: string;
  readonly class: RuleClass;
  readonly #graced: LimitClaim;

  constructor(graced: LimitClaim, counter: CounterKey) {
    this.counter = counter;
    this.rule = graced.rule;
    this.class = graced.class;
    this.#graced = graced;
  }

  /** It has no bound and is never refused. */
  refusal(seen: CounterSnapshot): Reason {
    return this.#graced.refusal(seen);
  }
}
