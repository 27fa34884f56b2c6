import { type CounterKey, isInFlight, type Unit } from '../claim.ts';
import type { Mode, RuleClass } from '../mode.ts';
import type { CountedKind } from '../rule.ts';
import type { BreakGlass } from './break-glass.ts';
import type { FiscalStart } from './fiscal.ts';
import type { Freeze } from './frozen.ts';
import type { Grant } from './grant.ts';
import type { GroupDefaults } from './group-defaults.ts';
import { type Period, type PeriodKind, periodAt } from './period.ts';

export const LIMIT_KINDS = ['money', 'minutes', 'jobs', 'cpu', 'memory', 'starts'] as const;

/** What is counted: money, minutes and starts per period; jobs, their CPU and their memory at once. */
export type LimitKind = (typeof LIMIT_KINDS)[number];

export const UNIT_OF: Readonly<Record<LimitKind, Unit>> = {
  money: 'micros',
  minutes: 'seconds',
  jobs: 'jobs',
  cpu: 'millicpu',
  memory: 'bytes',
  starts: 'starts',
};

/** Counted while the job runs, not per period. */
export const isAtOnce = (kind: LimitKind): boolean => isInFlight(UNIT_OF[kind]);

/** The kind of rule that switches a limit on. */
export const ASKED_BY: Readonly<Record<LimitKind, CountedKind>> = {
  money: 'budget',
  minutes: 'budget',
  jobs: 'concurrency',
  cpu: 'capacity',
  memory: 'capacity',
  starts: 'window',
};

/** A number finance owns, on one subject. */
export interface Limit {
  /** Stable, unique on its subject, part of the counter's key: `money-month`. */
  readonly id: string;
  /** `subjectKey`: `group/101`. */
  readonly subject: string;
  readonly kind: LimitKind;
  readonly unit: Unit;
  /**
   * Whole units. 0 blocks; `unlimited` asks nothing at this level (the other levels still do). As it was written: what
   * is in force now, with grants and what was carried over, is `limitAt`'s to say.
   */
  readonly amount: number | 'unlimited';
  /** From which amount on the owner is warned: above 0, below the amount. */
  readonly softAmount?: number;
  /** It was written as a share of the limit, in `SHARE_PARTS`. */
  readonly softShare?: number;
  /** How far jobs of a pipeline that already runs may go: above the amount. */
  readonly graceAmount?: number;
  /** Likewise, of what is on top. */
  readonly graceShare?: number;
  /** All that were ever given; only those in force count. */
  readonly grants?: readonly Grant[];
  /** The most of what a period leaves that the next one gets on top; absent: nothing. */
  readonly carryMax?: number;
  /** Likewise. */
  readonly carryShare?: number;
  /** What becomes of what was spent past the limit: `carry` takes it from the next period. Absent: nothing. */
  readonly overdraft?: 'carry' | 'alert';
  /** What came over from the period before; no part of the document. */
  readonly opening?: Opening;
  /** Whole units, above 0: what was overdrawn in the period before and makes the amount in force smaller (`limitAt`). */
  readonly overdrawn?: number;
  /** Absent for what is counted at once. */
  readonly per?: PeriodKind;
  /** IANA zone the period begins and ends in. */
  readonly zone: string;
  /** Only where it makes periods differ from the calendar's. */
  readonly fiscalStart?: FiscalStart;
  readonly mode: Mode;
  /** It asks nothing before this instant, Unix ms. */
  readonly fromMs?: number;
  /** Nor from this instant on. */
  readonly untilMs?: number;
  readonly owner?: string;
  /** Where a rejected developer reaches the owner. */
  readonly contact?: string;
  readonly costCenter?: string;
  /** Why it is what it is. */
  readonly reason?: string;
  /** Whole percent of the amount at which the owner is told; `[]` at none. Absent: 50, 75, 90 and 100 of budgets. */
  readonly thresholds?: readonly number[];
}

/** What a period began with, fixed when it opened. */
export interface Opening {
  /** Key of the period. */
  readonly period: string;
  /** Whole units: left over from the period before, or, below 0, overdrawn in it. */
  readonly carried: number;
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
  /** Absent: none. */
  readonly groupDefaults?: GroupDefaults;
  /** By `subjectKey`. Absent: none. */
  readonly freezes?: ReadonlyMap<string, readonly Freeze[]>;
  /** In document order. Absent: none. */
  readonly breakGlasses?: readonly BreakGlass[];
}

/** The period a limit counts in now; undefined for what is counted at once. */
export const limitPeriod = ({ per, zone, fiscalStart }: Limit, nowMs: number): Period | undefined =>
  per === undefined ? undefined : periodAt(per, zone, nowMs, fiscalStart);

/** The counter a limit asks now. */
export const counterOf = (limit: Limit, nowMs: number): CounterKey => ({
  subject: limit.subject,
  limit: limit.id,
  period: limitPeriod(limit, nowMs)?.key ?? 'now',
});

const NONE: readonly Limit[] = [];

export const limitsOn = (limits: LimitSet, subject: string): readonly Limit[] =>
  limits.bySubject.get(subject) ?? NONE;

/** What every group or personal namespace has by default, without its own limits. */
export const defaultsOf = (
  { personalDefault, groupDefaults }: LimitSet,
  { path, personal }: { readonly path?: string; readonly personal: boolean },
): readonly Limit[] =>
  personal ? personalDefault : path === undefined ? NONE : (groupDefaults?.at(path) ?? NONE);

/** A group's own limits, and the default ones of the kinds it has none of: not even `unlimited`. */
export function withDefaults(
  own: readonly Limit[],
  defaults: readonly Limit[],
  subject: string,
): readonly Limit[] {
  if (defaults.length === 0) return own;
  const inherited = defaults
    .filter((limit) => !own.some((each) => each.kind === limit.kind))
    .map((limit) => ({ ...limit, subject }));
  return inherited.length === 0 ? own : [...own, ...inherited];
}
