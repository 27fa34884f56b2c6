import type { Job } from '../checked-job.ts';
import type { CounterKey, CounterSnapshot, LimitClaim } from '../claim.ts';
import type { Mode, RuleClass } from '../mode.ts';
import type { Reason, Violation } from '../reason.ts';
import { isValidAt, periodAt } from './period.ts';

/** Jobs that may pass limits and freezes that would stop them, for a short time. Never a rule of the policy. */
export interface BreakGlass {
  readonly id: string;
  /** `subjectKey`: the instance, a group with all below it, or a project. */
  readonly subject: string;
  /** Empty: anybody's. */
  readonly users: ReadonlySet<number>;
  /** Only jobs on protected refs. */
  readonly protected: boolean;
  /** How many it lets in, per `per`. */
  readonly jobs: number;
  readonly per: 'hour' | 'day' | 'once';
  readonly fromMs: number;
  readonly untilMs: number;
  /** IANA zone the edges were written in, and are told in. Absent: UTC. */
  readonly zone?: string;
  readonly reason: string;
  readonly owner?: string;
  readonly ticket?: string;
  /** Who broke it. */
  readonly by?: string;
  /** GitLab's id of them, where they were signed in. */
  readonly byUser?: number;
  /** Who has looked at what was done with it; absent: nobody yet. */
  readonly reviewed?: BreakGlassReview;
}

export interface BreakGlassReview {
  readonly by: string;
  readonly byUser?: number;
  readonly atMs: number;
  readonly note?: string;
}

export const BREAK_GLASS_RULE = 'break-glass';

/**
 * The counter of what it let in. One that counts as long as it is open is named by its last day, not `once`: what is
 * counted once is kept for good.
 */
export function breakGlassCounter({ id, per, untilMs }: BreakGlass, nowMs: number): CounterKey {
  const at = per === 'once' ? untilMs - 1 : nowMs;
  const period = periodAt(per === 'once' ? 'day' : per, 'UTC', at).key;
  return { subject: `${BREAK_GLASS_RULE}/${id}`, limit: 'jobs', period };
}

/** The first that a job may use now. What is not known for certain (who, which ref, which group) lets nobody in. */
export function breakGlassFor(
  all: readonly BreakGlass[],
  { request, placement, nowMs }: Job,
): BreakGlass | undefined {
  return all.find((one) => {
    if (!isValidAt(one, nowMs)) return false;
    if (one.users.size > 0 && (placement.userId === undefined || !one.users.has(placement.userId)))
      return false;
    if (one.protected && request.refProtected !== true) return false;
    return isIn(one.subject, placement);
  });
}

function isIn(subject: string, { ancestors, projectId }: Job['placement']): boolean {
  if (subject === 'instance') return true;
  const [kind, id] = subject.split('/');
  return kind === 'project' ? projectId === Number(id) : ancestors.some((group) => group.id === Number(id));
}

/** For the record: seen by the owner and by whoever reviews it, and rejecting nobody. */
export const breakGlassViolation = ({ id, reason, owner }: BreakGlass): Violation => ({
  rule: BREAK_GLASS_RULE,
  class: 'cost',
  mode: 'warn',
  reason: { code: 'BREAK_GLASS', breakGlass: id, why: reason, ...(owner !== undefined && { owner }) },
  exempt: true,
});

/** One job more that it let in. */
export class BreakGlassClaim implements LimitClaim {
  readonly counter: CounterKey;
  readonly unit = 'starts';
  readonly amount = 1;
  readonly bound: number;
  readonly mode: Exclude<Mode, 'off'> = 'enforce';
  readonly rule = BREAK_GLASS_RULE;
  readonly class: RuleClass = 'cost';
  readonly #id: string;

  constructor(glass: BreakGlass, nowMs: number) {
    this.counter = breakGlassCounter(glass, nowMs);
    this.bound = glass.jobs;
    this.#id = glass.id;
  }

  /** Never told: a job that it does not let in is rejected for what stopped it in the first place. */
  refusal({ committed, settled }: CounterSnapshot): Reason {
    return {
      code: 'WINDOW_FULL',
      committed,
      settled,
      limit: 'jobs',
      subject: this.counter.subject,
      subjectLabel: `break-glass ${this.#id}`,
      unit: 'starts',
      limitAmount: this.bound,
      asked: 1,
    };
  }
}
