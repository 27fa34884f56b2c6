import type { PeriodKind } from '../../../policies/limits/period.ts';
import type { Mode } from '../../../policies/mode.ts';
import type { LimitKind, Unit } from '../../../policies/units/unit.ts';

/** A limit in force and how its counter stands. */
export interface LimitRow {
  readonly subject: string;
  /** The limit's id: `money-month`. */
  readonly id: string;
  readonly kind: LimitKind;
  readonly unit: Unit;
  /** What is in force: with what was carried over and grants. */
  readonly amount: number | 'unlimited';
  /** As it was written. */
  readonly baseAmount: number | 'unlimited';
  /** Part of `amount`: what grants in force add. */
  readonly granted: number;
  /** Over from the period before; below 0 overdrawn. */
  readonly carried: number;
  readonly softAmount?: number;
  /** As it was written: a share of the limit as `80%`, or whole units. */
  readonly baseSoft?: string | number;
  /** The most that is carried over, likewise. */
  readonly baseCarry?: string | number;
  readonly graceAmount?: number;
  readonly per?: PeriodKind;
  readonly period?: PeriodRow;
  readonly zone: string;
  readonly mode: Mode;
  /** The rollout of the group makes it milder than `mode`. */
  readonly rolledOutAs?: Mode;
  /** Solid part of the bar: final. 0 for what is counted at once. */
  readonly settled: number;
  /** Hatched part: held by jobs that run or wait. */
  readonly held: number;
  /** Settled + held, of it what would fit had this been enforced; differs from the sum only in shadow and warn. */
  readonly fitted: number;
  /** Below 0: passed. Absent: unlimited. */
  readonly left?: number;
  /** Settled + held of the amount, whole percent, rounded down; 100 or more only if it is used up. */
  readonly percent?: number;
  readonly forecast?: ForecastRow;
  readonly owner?: string;
  readonly contact?: string;
  readonly costCenter?: string;
  readonly reason?: string;
  /** It asks nothing before or from these instants on. */
  readonly fromMs?: number;
  readonly untilMs?: number;
  /** It is the default of all groups like this, not its own. */
  readonly byDefault?: true;
  /** In force at all: false for one that has not begun or is over; then no numbers but the written ones count. */
  readonly inForce: boolean;
}

export interface PeriodRow {
  /** `2026-11` */
  readonly key: string;
  /** `November 2026` */
  readonly label: string;
  readonly startMs: number;
  /** Infinity (`null` in JSON) for what never starts anew. */
  readonly endMs: number;
}

/** When what is left is used up, if every day is like its weekday in the last four weeks. */
export interface ForecastRow {
  readonly outcome: 'runs_out' | 'lasts' | 'used_up';
  /** Only with `runs_out`. */
  readonly atMs?: number;
  /** What it will come to at the end of the period, whole units; the forecast mark on the bar. */
  readonly atEndAmount?: number;
}

export interface FreezeRow {
  readonly id: string;
  readonly reason: string;
  readonly owner?: string;
  readonly fromMs?: number;
  /** Absent: until somebody lifts it. */
  readonly untilMs?: number;
  /** IANA zone the edges are told in. */
  readonly zone: string;
  /** Path of the group above, or of the instance, if the freeze is on that. */
  readonly above?: string;
}
