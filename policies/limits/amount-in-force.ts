import type { CounterKey, CounterSnapshot, Grace, LimitClaim } from '../claim.ts';
import type { RuleClass } from '../mode.ts';
import type { Reason } from '../reason.ts';
import type { AdmissionRequest } from '../request/request.ts';
import { grantedAt } from './grant.ts';
import type { Limit } from './limit.ts';
import { limitPeriod } from './limits.ts';
import { shareOf } from './share.ts';

/**
 * The limit as it is at an instant: base + carried over + active grants, with its soft part and its grace moved along.
 * An overdraft takes at most the base: what is granted to help is there to help.
 */
export function limitAt(limit: Limit, nowMs: number): Limit {
  const { amount: base, grants = [], opening } = limit;
  // Most limits are what was written.
  if (base === 'unlimited' || (grants.length === 0 && opening === undefined)) return limit;
  const carried = opening?.period === limitPeriod(limit, nowMs)?.key ? (opening?.carried ?? 0) : 0;
  const amount = Math.max(0, base + carried) + grantedAt(grants, nowMs);
  if (amount === base) return limit;
  const inForce = withAmount(limit, base, amount);
  return carried < 0 ? { ...inForce, overdrawn: -carried } : inForce;
}

function withAmount(limit: Limit, base: number, amount: number): Limit {
  const { softAmount: soft, graceAmount: grace, softShare, graceShare, ...rest } = limit;
  const softAmount = softShare === undefined ? soft : shareOf(amount, softShare);
  const graceUnits = graceShare === undefined ? grace && grace - base : shareOf(amount, graceShare);
  return {
    ...rest,
    amount,
    ...(softAmount !== undefined && softAmount > 0 && softAmount < amount && { softAmount }),
    ...(graceUnits !== undefined && graceUnits > 0 && { graceAmount: amount + graceUnits }),
  };
}

const PIPELINE = 'pipeline/';

/** How many jobs of a pipeline were admitted. Nobody limits it: it tells which pipelines run already. */
const pipelineKey = (pipelineId: number): CounterKey => ({
  subject: `${PIPELINE}${pipelineId}`,
  limit: 'grace',
  period: 'once',
});

/** A pipeline's counter is of no use once the pipeline is over, and so garbage long before the records that made it. */
export const isPipelineCounter = ({ subject }: CounterKey): boolean => subject.startsWith(PIPELINE);

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
