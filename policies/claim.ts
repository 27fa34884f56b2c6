import type { RuleClass } from './mode.ts';
import type { Reason } from './reason.ts';

/** `micros` are millionths of the deployment's one currency. */
export type Unit = 'micros' | 'seconds' | 'jobs';

/** One limit × subject × period: the identity of a counter. */
export interface CounterKey {
  /** `subjectKey`, e.g. `group/101`. */
  readonly subject: string;
  /** The limit's stable id, e.g. `money-month`. */
  readonly limit: string;
  /** The period's start in the limit's zone, e.g. `2026-11`, `2026-W47`, `2026-11-21`; `now` for jobs at once. */
  readonly period: string;
}

/** `group/101|money-month|2026-11`. */
export const counterName = (key: CounterKey): string => `${key.subject}|${key.limit}|${key.period}`;

/**
 * "Add this amount to that counter if it then stays within this bound." A claim without a bound adds without asking
 * (exempt, unmetered and bypass jobs). `jobs` are given back at the end, `micros` and `seconds` settle to the truth.
 */
export interface Claim {
  readonly counter: CounterKey;
  readonly unit: Unit;
  /** Whole units, ≥ 0. */
  readonly amount: number;
  /** The effective mode: only `enforce` may refuse the job, the others count apart in `fitted`. */
  readonly mode: 'shadow' | 'warn' | 'enforce';
  /** The limit in force, > 0. A limit of 0 never becomes a claim: it is a violation at once. */
  readonly bound?: number;
}

/** A claim that can explain itself: the reason to give if its counter refuses it. Pure. */
export interface LimitClaim extends Claim {
  readonly rule: string;
  readonly class: RuleClass;
  refusal(seen: CounterSeen): Reason;
}

/** What a counter showed when it refused a claim. */
export interface CounterSeen {
  /** Settled + held. For shadow claims this is `fitted`: what would count had every refusal been enforced. */
  readonly committed: number;
  /** The part of `committed` that is final. */
  readonly settled: number;
}
