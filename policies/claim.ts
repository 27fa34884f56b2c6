import { capSpansRoots, endsWithPipeline, isCap } from './limits/cap.ts';
import type { Limit, OutagePolicy } from './limits/limit.ts';
import type { RuleClass } from './mode.ts';
import type { Reason } from './reason.ts';
import type { AdmissionRequest } from './request/request.ts';
import type { Unit } from './unit.ts';

export interface CounterKey {
  readonly subject: string;
  readonly limit: string;
  /** Key of `periodAt`, e.g. `2026-11`, `2026-W47`, `2026-Q1@04-06`; `now` for jobs in flight. */
  readonly period: string;
}

export const counterName = (key: CounterKey): string => `${key.subject}|${key.limit}|${key.period}`;

/**
 * "Add this amount to that counter if it then stays within this bound." A claim without a bound adds without asking
 * (exempt, unmetered and bypass jobs). At the end of the job `micros` and `seconds` settle to the real use, what is in flight
 * is given back, and `starts` stay counted unless the job never ran.
 */
export interface Claim {
  readonly counter: CounterKey;
  readonly unit: Unit;
  readonly amount: number;
  /** The job is larger than the whole limit, which is reported already: counted in `committed`, never checked. */
  readonly neverFits?: true;
  /** The effective mode: only `enforce` may refuse the job, the others count apart in `fitted`. */
  readonly mode: 'shadow' | 'warn' | 'enforce';
  readonly bound?: number;
  readonly grace?: Grace;
}

export interface Grace {
  readonly bound: number;
  readonly pipeline: CounterKey;
}

export interface LimitClaim extends Claim {
  readonly rule: string;
  readonly class: RuleClass;
  refusal(seen: CounterSnapshot): Reason;
  readonly soft?: SoftBound;
  readonly waitMs?: number;
  /** In a cohort: what goes further than this, up to the bound, is borrowed. Only with mode `enforce`. */
  readonly own?: number;
  /** It counts what another claim of the job takes, or a part of that, in a counter of their cohort. */
  readonly part?: CohortPart;
  readonly outage?: { readonly policy: OutagePolicy; readonly periodMs?: number };
}

/** An amount comes first from what the group keeps (`kept`), then from what all lend (`lent`). `cohort` counts all. */
export interface CohortPart {
  readonly of: CounterKey;
  readonly from: 'kept' | 'lent' | 'cohort';
}

export interface SoftBound {
  readonly bound: number;
  warning(seen: CounterSnapshot): Reason;
}

export interface CounterSnapshot {
  /** Settled + held. For shadow claims this is `fitted`: what would count had every refusal been enforced. */
  readonly committed: number;
  readonly settled: number;
  readonly lentOut?: true;
}

const PIPELINE = 'pipeline/';
const OF_ONE_ROOT = ['group/', 'project/', PIPELINE];

export const hasManyRoots = ({ subject }: CounterKey): boolean =>
  isCap(subject) ? capSpansRoots(subject) : !OF_ONE_ROOT.some((kind) => subject.startsWith(kind));

/** A counter of a pipeline or merge request is of no use once that is over, and so garbage long before the records that made it. */
export const isPipelineCounter = ({ subject }: CounterKey): boolean =>
  subject.startsWith(PIPELINE) || endsWithPipeline(subject);

/** A job that is charged without being asked takes nothing from its group's kept part, so its whole amount is lent. */
export const chargeable = <Each extends Pick<LimitClaim, 'part'>>(
  claims: readonly Each[],
): readonly Each[] =>
  claims.some(({ part }) => part !== undefined) ? claims.filter(({ part }) => part?.from !== 'kept') : claims;

export const makeGrace = ({ graceAmount }: Limit, { pipelineId }: AdmissionRequest): Grace | undefined =>
  graceAmount === undefined || pipelineId === undefined
    ? undefined
    : {
        bound: graceAmount,
        pipeline: { subject: `${PIPELINE}${pipelineId}`, limit: 'grace', period: 'once' },
      };

export function pipelineClaims(claims: readonly LimitClaim[]): readonly LimitClaim[] {
  const graced = claims.find(({ grace }) => grace !== undefined);
  if (graced?.grace === undefined) return [];
  const { rule, class: ruleClass, grace } = graced;
  const refusal = (seen: CounterSnapshot): Reason => graced.refusal(seen);
  return [
    { counter: grace.pipeline, unit: 'starts', amount: 1, mode: 'enforce', rule, class: ruleClass, refusal },
  ];
}
