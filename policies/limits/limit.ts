import type { Mode } from '../mode.ts';
import type { LimitKind, Unit } from '../unit.ts';
import { dayOfIso, dayStartMs } from './calendar.ts';
import type { FiscalStart, PeriodKind, Validity } from './period.ts';

/** Decides about jobs while the counter is unreachable. `room`: admit within the last known headroom. */
export type OutagePolicy = 'admit' | 'room' | 'reject';

export const OUTAGE_POLICIES: readonly OutagePolicy[] = ['admit', 'room', 'reject'];

export interface Limit {
  /** Stable, unique on its subject, part of the counter's key: `money-month`. */
  readonly id: string;
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
  /** The bound for jobs of a pipeline that already runs; above the amount. */
  readonly graceAmount?: number;
  /** The same as a share of added amounts. */
  readonly graceShare?: number;
  /** All that were ever given; only those in force count. */
  readonly grants?: readonly Grant[];
  /** Grants on the limit that this one took over from, which still go on. They add to the amount like its own. */
  readonly earlierGrants?: readonly Grant[];
  /** The most that a period may carry into the next. Absent: nothing. */
  readonly carryMax?: number;
  readonly carryShare?: number;
  /** `carry` takes an overdraft from the next period. Absent: it is ignored. */
  readonly overdraft?: 'carry' | 'alert';
  /** The carried amount; not part of the document. */
  readonly opening?: Opening;
  /** Whole units, above 0: what was overdrawn in the period before and makes the amount in force smaller (`limitAt`). */
  readonly overdrawn?: number;
  /** Absent for jobs in flight. */
  readonly per?: PeriodKind;
  readonly zone: string;
  /** Only where it makes periods differ from the calendar's. */
  readonly fiscalStart?: FiscalStart;
  readonly mode: Mode;
  /** Absent: the rule that asks the limit says, else its kind: `room` for money and minutes, `admit` for the others. */
  readonly whenUnreachable?: OutagePolicy;
  /**
   * Time that a job may wait for headroom if only such limits refuse it, ms. Absent: it is rejected
   * immediately.
   */
  readonly waitMs?: number;
  /** Members of one cohort and kind use each other's idle amounts. Absent: in none. */
  readonly cohort?: string;
  /** Whole units: how far it may go above its own amount while others of its cohort are idle. Absent: not at all. */
  readonly borrow?: number;
  /** It was written as a share of the limit, in `SHARE_PARTS`. */
  readonly borrowShare?: number;
  /** Whole units: how much of its own others may use while it is idle. Absent: all. */
  readonly lend?: number;
  readonly lendShare?: number;
  /** It asks nothing before this instant, Unix ms. */
  readonly fromMs?: number;
  /** Nor from this instant on. */
  readonly untilMs?: number;
  readonly owner?: string;
  /** Contact for developers whose jobs are rejected. */
  readonly contact?: string;
  readonly costCenter?: string;
  /** Why it is what it is. */
  readonly reason?: string;
  /** Percentages of the amount that notify the owner; `[]`: none. Absent: 50, 75, 90 and 100 for budgets. */
  readonly thresholds?: readonly number[];
  /** Percentages of the amount: a forecast above one notifies the owner. */
  readonly forecastThresholds?: readonly number[];
}

/** The carried amount of a period, fixed when the period opens. */
interface Opening {
  readonly period: string;
  /** Whole units: left over from the period before, or, below 0, overdrawn in it. */
  readonly carried: number;
}

/** Which limit, whose, and until when: what every quota reason carries. */
export interface LimitFacts {
  readonly limit: string;
  readonly subject: string;
  /** For people, e.g. `group acme/payments`. */
  readonly subjectLabel: string;
  readonly unit: Unit;
  readonly limitAmount: number;
  readonly asked: number;
  /** Whole units, above 0: the limit is smaller than what was set, because so much was overdrawn in the period before. */
  readonly overdrawn?: number;
  /** Whole units, above 0: it may go so far above its own amount while others of its cohort are idle. */
  readonly borrow?: number;
  /** It has not used up its own: others of its cohort still use what it lends. */
  readonly lentOut?: true;
  /** For people, e.g. `November 2026`; absent for jobs in flight. */
  readonly periodLabel?: string;
  /** End of the period, Unix ms. The counter resets then. */
  readonly resetsAtMs?: number;
  readonly zone?: string;
  readonly owner?: string;
  readonly contact?: string;
}

/** An extra amount for a time, with a reason. Grants add up. */
export interface Grant {
  /** Whole units of the limit, > 0. */
  readonly amount: number;
  /** Unix ms; half-open: at `untilMs` it no longer counts. */
  readonly fromMs: number;
  readonly untilMs: number;
  readonly reason: string;
  readonly ticket?: string;
  /** Unique where it is there; by it a grant is revoked. */
  readonly id?: string;
  readonly by?: string;
  readonly requestedBy?: string;
  readonly approvedBy?: string;
  /** GitLab's ids of the same, where they were signed in: names change hands. */
  readonly byUser?: number;
  readonly requestedByUser?: number;
  readonly approvedByUser?: number;
}

/** All that add to a limit: its own, and those from before it took over. */
export const grantsOf = ({
  grants = [],
  earlierGrants = [],
}: {
  readonly grants?: readonly Grant[];
  readonly earlierGrants?: readonly Grant[];
}): readonly Grant[] => (earlierGrants.length === 0 ? grants : [...grants, ...earlierGrants]);

/** Returns the sum of the grants in force at an instant. */
export const grantedAt = (grants: readonly Grant[], nowMs: number): number =>
  granted(grants.filter(({ fromMs, untilMs }) => fromMs <= nowMs && nowMs < untilMs));

/** Returns the sum of the grants in force at any time of a period. */
export const grantedWithin = (grants: readonly Grant[], startMs: number, endMs: number): number =>
  granted(grants.filter(({ fromMs, untilMs }) => fromMs < endMs && startMs < untilMs));

const granted = (grants: readonly Grant[]): number => grants.reduce((sum, { amount }) => sum + amount, 0);

/** Stops new jobs of a subject for a time. Running jobs finish. */
export interface Freeze extends Validity {
  readonly subject: string;
  readonly id: string;
  readonly reason: string;
  readonly owner?: string;
  readonly by?: string;
  readonly byUser?: number;
  readonly zone: string;
}

/** Shares are written to a thousandth of a percent; this many parts are the whole. */
export const SHARE_PARTS = 100_000;

/** Exact, rounded down to whole units. May be past the safe integers if the share is more than the whole. */
export const shareOf = (amount: number, parts: number): number =>
  Number((BigInt(amount) * BigInt(parts)) / BigInt(SHARE_PARTS));

const DAY_AT_END = /-(\d{4}-\d{2}-\d{2})$/;

/**
 * Returns the name that limits share if one takes over from the other: `money-month` of `money-month`, and of
 * `money-month-2027-01-01` if that one begins on the day in its id.
 */
export function lineOf({ id, fromMs, zone }: Pick<Limit, 'id' | 'fromMs' | 'zone'>): string {
  const day = DAY_AT_END.exec(id)?.[1];
  return day !== undefined && fromMs === dayStartMs(zone, dayOfIso(day)) ? withoutDay(id) : id;
}

/** `money-month` of `money-month-2027-01-01`, without a look at when it begins. */
export const withoutDay = (id: string): string => id.replace(DAY_AT_END, '');

/** Grants on the limits that this one takes over from, which go on after that day. */
export function earlierGrants(limit: Limit, onSubject: readonly Limit[]): readonly Grant[] {
  const { fromMs } = limit;
  if (fromMs === undefined) return [];
  const line = lineOf(limit);
  return onSubject
    .filter((each) => (each.untilMs ?? Number.POSITIVE_INFINITY) <= fromMs && lineOf(each) === line)
    .flatMap(({ grants = [] }) => grants.filter(({ untilMs }) => untilMs > fromMs));
}
