import type { Mode } from '../mode.ts';
import type { LimitKind, Unit } from '../unit.ts';
import { dayOfIso, dayStartMs } from './calendar.ts';
import { type FiscalStart, type PeriodKind, type Validity, validAt } from './period.ts';

/** Decides about jobs while the counter is unreachable. `room`: admit within the last known headroom. */
export type OutagePolicy = 'admit' | 'room' | 'reject';

export const OUTAGE_POLICIES: readonly OutagePolicy[] = ['admit', 'room', 'reject'];

export interface Limit extends Validity {
  /** Stable, unique on its subject, part of the counter's key: `money-month`. */
  readonly id: string;
  readonly subject: string;
  readonly kind: LimitKind;
  readonly unit: Unit;
  /** As it was written, whole units; `limitAt` adds grants and what was carried over. 0 blocks. */
  readonly amount: number | 'unlimited';
  readonly softAmount?: number;
  readonly softShare?: number;
  /** The bound for jobs of a pipeline that already runs; above the amount. */
  readonly graceAmount?: number;
  readonly graceShare?: number;
  readonly grants?: readonly Grant[];
  /** Grants on the limit that this one took over from, which still go on. They add to the amount like its own. */
  readonly earlierGrants?: readonly Grant[];
  readonly carryMax?: number;
  readonly carryShare?: number;
  /** `carry` takes an overdraft from the next period. Absent: it is ignored. */
  readonly overdraft?: 'carry' | 'alert';
  /** `carried`, in whole units: left over from the period before, or, below 0, overdrawn in it. */
  readonly opening?: { readonly period: string; readonly carried: number };
  /** Whole units, above 0: what was overdrawn in the period before and makes the amount in force smaller (`limitAt`). */
  readonly overdrawn?: number;
  readonly per?: PeriodKind;
  readonly zone: string;
  readonly fiscalStart?: FiscalStart;
  readonly mode: Mode;
  /** Absent: the rule that asks the limit says, else its kind: `room` for money and minutes, `admit` for the others. */
  readonly whenUnreachable?: OutagePolicy;
  /** Longest wait of a job that only such limits refuse. Absent: none. */
  readonly waitMs?: number;
  /** Members of one cohort and kind use each other's idle amounts. Absent: in none. */
  readonly cohort?: string;
  /** Whole units: how far it may go above its own amount while others of its cohort are idle. Absent: not at all. */
  readonly borrow?: number;
  readonly borrowShare?: number;
  /** Whole units: how much of its own others may use while it is idle. Absent: all. */
  readonly lend?: number;
  readonly lendShare?: number;
  readonly owner?: string;
  readonly contact?: string;
  readonly costCenter?: string;
  readonly reason?: string;
  /** Percentages of the amount that notify the owner; `[]`: none. Absent: 50, 75, 90 and 100 for budgets. */
  readonly thresholds?: readonly number[];
  readonly forecastThresholds?: readonly number[];
}

export interface LimitFacts
  extends Pick<Limit, 'subject' | 'unit' | 'overdrawn' | 'borrow' | 'owner' | 'contact'> {
  readonly limit: string;
  readonly subjectLabel: string;
  readonly limitAmount: number;
  readonly asked: number;
  /** It has not used up its own: others of its cohort still use what it lends. */
  readonly lentOut?: true;
  readonly periodLabel?: string;
  readonly resetsAtMs?: number;
  readonly zone?: string;
}

export interface Grant extends Required<Validity> {
  readonly amount: number;
  readonly reason: string;
  readonly ticket?: string;
  readonly id?: string;
  readonly by?: string;
  readonly requestedBy?: string;
  readonly approvedBy?: string;
  /** GitLab's ids of the same, where they were signed in: names change hands. */
  readonly byUser?: number;
  readonly requestedByUser?: number;
  readonly approvedByUser?: number;
}

export const grantsOf = ({ grants = [], earlierGrants: earlier = [] }: Limit): readonly Grant[] =>
  earlier.length === 0 ? grants : [...grants, ...earlier];

export const grantedAt = (grants: readonly Grant[], nowMs: number): number => granted(validAt(grants, nowMs));

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

/** The name that limits share if one takes over from the other on the day in its id: `money-month-2027-01-01`. */
export function limitLine({ id, fromMs, zone }: Pick<Limit, 'id' | 'fromMs' | 'zone'>): string {
  const day = DAY_AT_END.exec(id)?.[1];
  return day !== undefined && fromMs === dayStartMs(zone, dayOfIso(day)) ? withoutDay(id) : id;
}

export const withoutDay = (id: string): string => id.replace(DAY_AT_END, '');

/** Grants on the limits that this one takes over from, which go on after that day. */
export function earlierGrants(limit: Limit, onSubject: readonly Limit[]): readonly Grant[] {
  const { fromMs } = limit;
  if (fromMs === undefined) return [];
  const line = limitLine(limit);
  return onSubject
    .filter((each) => (each.untilMs ?? Number.POSITIVE_INFINITY) <= fromMs && limitLine(each) === line)
    .flatMap(({ grants = [] }) => grants.filter(({ untilMs }) => untilMs > fromMs));
}
