import type { Job } from '../checked-job.ts';
import type { CounterKey, LimitClaim } from '../claim.ts';
import type { Violation } from '../reason.ts';
import { isValidAt, periodAt, type Validity } from './period.ts';

export interface BreakGlass extends Required<Validity> {
  readonly id: string;
  readonly subject: string;
  readonly users: ReadonlySet<number>;
  readonly protected: boolean;
  readonly jobs: number;
  readonly per: 'hour' | 'day' | 'once';
  readonly zone?: string;
  readonly reason: string;
  readonly owner?: string;
  readonly ticket?: string;
  readonly by?: string;
  readonly byUser?: number;
  readonly reviewed?: {
    readonly by: string;
    readonly byUser?: number;
    readonly atMs: number;
    readonly note?: string;
  };
}

const BREAK_GLASS_RULE = 'break-glass';

/** A break-glass of `once` is counted by its last day, because counters of `once` are kept forever. */
export function breakGlassCounter({ id, per, untilMs }: BreakGlass, nowMs: number): CounterKey {
  const at = per === 'once' ? untilMs - 1 : nowMs;
  const period = periodAt(per === 'once' ? 'day' : per, 'UTC', at).key;
  return { subject: `${BREAK_GLASS_RULE}/${id}`, limit: 'jobs', period };
}

/** Returns the first break-glass that a job may use now. An unknown user, ref or group admits no job. */
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

const isIn = (subject: string, { ancestors, projectId }: Job['placement']): boolean =>
  ['instance', `project/${projectId}`].includes(subject) ||
  ancestors.some(({ id }) => subject === `group/${id}`);

export const breakGlassViolation = ({ id, reason, owner }: BreakGlass): Violation => ({
  rule: BREAK_GLASS_RULE,
  class: 'cost',
  mode: 'warn',
  reason: { code: 'BREAK_GLASS', breakGlass: id, why: reason, ...(owner !== undefined && { owner }) },
  exempt: true,
});

export function breakGlassClaim(glass: BreakGlass, nowMs: number): LimitClaim {
  const counter = breakGlassCounter(glass, nowMs);
  const { id, jobs: bound } = glass;
  return {
    ...{ counter, unit: 'starts', amount: 1, bound, mode: 'enforce', rule: BREAK_GLASS_RULE, class: 'cost' },
    // Never shown: a job that it does not admit is rejected for the original reason.
    refusal: ({ committed, settled }) => ({
      ...{ code: 'WINDOW_FULL', committed, settled, limit: 'jobs', unit: 'starts', asked: 1 },
      subject: counter.subject,
      subjectLabel: `break-glass ${id}`,
      limitAmount: bound,
    }),
  };
}
