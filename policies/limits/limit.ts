import type { Mode } from '../mode.ts';
import type { LimitKind, Unit } from '../units/unit.ts';
import type { FiscalStart } from './fiscal.ts';
import type { Grant } from './grant.ts';
import type { PeriodKind } from './period.ts';

/**
 * What becomes of a job while the counter of a limit cannot be asked. `room`: it is admitted within what was last known
 * to be left.
 */
export type OutagePolicy = 'admit' | 'room' | 'reject';

export const OUTAGE_POLICIES: readonly OutagePolicy[] = ['admit', 'room', 'reject'];

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
  /** Grants on the limit that this one took over from, which still go on. They add to the amount like its own. */
  readonly earlierGrants?: readonly Grant[];
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
  /** Absent: the rule that asks the limit says, else its kind: `room` for money and minutes, `admit` for the others. */
  readonly whenUnreachable?: OutagePolicy;
  /** How long a job that only such limits refuse is kept waiting for room. Absent: it is rejected at once. */
  readonly waitMs?: number;
  /** Members of one cohort and kind use each other's idle amounts. Absent: in none. */
  readonly cohort?: string;
  /** Whole units: how far it may go above its own amount while others of its cohort are idle. Absent: not at all. */
  readonly borrow?: number;
  /** It was written as a share of the limit, in `SHARE_PARTS`. */
  readonly borrowShare?: number;
  /** Whole units: how much of its own others may use while it is idle. Absent: all. */
  readonly lend?: number;
  /** Likewise. */
  readonly lendShare?: number;
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
  /** Whole percent: the owner is told once the forecast for the end of the period comes to so much of the amount. */
  readonly forecastThresholds?: readonly number[];
}

/** What a period began with, fixed when it opened. */
interface Opening {
  /** Key of the period. */
  readonly period: string;
  /** Whole units: left over from the period before, or, below 0, overdrawn in it. */
  readonly carried: number;
}

/** Which limit, whose, and until when: what every quota reason carries. */
export interface LimitFacts {
  readonly limit: string;
  /** `subjectKey`. */
  readonly subject: string;
  /** What a person calls the subject, e.g. `group acme/payments`. */
  readonly subjectLabel: string;
  readonly unit: Unit;
  /** The limit's number, whole units. */
  readonly limitAmount: number;
  /** What this job asked for, whole units. */
  readonly asked: number;
  /** Whole units, above 0: the limit is smaller than what was set, because so much was overdrawn in the period before. */
  readonly overdrawn?: number;
  /** Whole units, above 0: it may go so far above its own amount while others of its cohort are idle. */
  readonly borrow?: number;
  /** It has not used up its own: others of its cohort still use what it lends. */
  readonly lentOut?: true;
  /** What a person calls the period, e.g. `November 2026`; absent for jobs at once. */
  readonly periodLabel?: string;
  /** When the period ends and the number starts anew, Unix ms. */
  readonly resetsAtMs?: number;
  readonly zone?: string;
  readonly owner?: string;
  /** Where to reach the owner. */
  readonly contact?: string;
}
