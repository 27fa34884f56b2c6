import type { Unit } from './claim.ts';
import type { Mode, RuleClass } from './mode.ts';
import type { PeriodKind } from './period.ts';

/** What is counted: money and minutes per period, jobs at once. */
export type LimitKind = 'money' | 'minutes' | 'jobs';

export const LIMIT_KINDS: readonly LimitKind[] = ['money', 'minutes', 'jobs'];

export const UNIT_OF: Readonly<Record<LimitKind, Unit>> = {
  money: 'micros',
  minutes: 'seconds',
  jobs: 'jobs',
};

/** A number finance owns, on one subject. */
export interface Limit {
  /** Stable, unique on its subject, part of the counter's key: `money-month`. */
  readonly id: string;
  /** `subjectKey`: `group/101`. */
  readonly subject: string;
  readonly kind: LimitKind;
  readonly unit: Unit;
  /** Whole units. 0 blocks; `unlimited` asks nothing at this level (the other levels still do). */
  readonly amount: number | 'unlimited';
  /** Absent for jobs at once. */
  readonly per?: PeriodKind;
  /** IANA zone the period begins and ends in. */
  readonly zone: string;
  readonly mode: Mode;
  readonly owner?: string;
}

/** How far rules of a class may go in a group and below, while they are being rolled out. */
export type Rollout = Readonly<Partial<Record<RolloutClass, Mode>>>;

/** Not `security`: its modes live in the policy document alone. */
export type RolloutClass = Exclude<RuleClass, 'security'>;

/** All limits of a deployment at one moment, indexed by subject so that evaluation never scans them. */
export interface LimitSet {
  readonly version: string;
  /** By `subjectKey`, in document order. */
  readonly bySubject: ReadonlyMap<string, readonly Limit[]>;
  /** By group id. */
  readonly rollouts: ReadonlyMap<number, Rollout>;
  /** What a personal namespace has of each kind it has no limit of its own for; `subject` is empty here. */
  readonly personalDefault: readonly Limit[];
}

const NONE: readonly Limit[] = [];

export const limitsOn = (limits: LimitSet, subject: string): readonly Limit[] =>
  limits.bySubject.get(subject) ?? NONE;

/** A personal namespace's own limits, and the default ones of the kinds it has none of. */
export function personalLimitsOn(limits: LimitSet, subject: string): readonly Limit[] {
  const own = limitsOn(limits, subject);
  const inherited = limits.personalDefault
    .filter((limit) => !own.some((each) => each.kind === limit.kind))
    .map((limit) => ({ ...limit, subject }));
  return inherited.length === 0 ? own : [...own, ...inherited];
}
