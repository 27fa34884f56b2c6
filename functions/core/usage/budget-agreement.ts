/**
 * Compares three figures of a budget's use: the counter of admissions, the days of usage of charts, and the
 * records of statements. They are computed independently.
 */

import { dayIn, dayNumber } from '../../../policies/limits/calendar.ts';
import type { PeriodKind } from '../../../policies/limits/period.ts';
import {
  isForecastable,
  kindRow,
  type LimitKind,
  type Unit,
  type UsageCounts,
} from '../../../policies/unit.ts';
import type { RecountOutcome } from '../ledger/checkpoints.ts';

/** Why the days of usage say something else than the counter. */
export type AgreementCause =
  /** The limit's days begin at other instants than those of usage. */
  | 'other_zone'
  /** The counter has more: jobs that were decided just now, corrections by hand. */
  | 'not_added_up'
  /** The days have more: jobs from before the limit counted, or while it was off. */
  | 'not_counted';

export interface BudgetAgreement {
  readonly subject: string;
  readonly limit: string;
  readonly unit: Unit;
  /** `2026-11` */
  readonly period: string;
  /** The counter and the sum of the period's days. Money includes held amounts, minutes only ended jobs. */
  readonly counterAmount: number;
  readonly usageAmount: number;
  /** Only where both differ. */
  readonly cause?: AgreementCause;
  /** Absent: this period was not recounted yet. */
  readonly records?: {
    /** Unix ms. */
    readonly recountedAtMs: number;
    /** The counter's surplus over its records. Undefined: too many counters differ to list all. */
    readonly counterBeyond: number | undefined;
  };
}

/** A limit with a period and how its counter stands. */
export interface CountedBudget {
  readonly subject: string;
  readonly id: string;
  readonly kind: LimitKind;
  readonly unit: Unit;
  readonly zone: string;
  readonly per?: PeriodKind | undefined;
  readonly period?: { readonly key: string; readonly startMs: number } | undefined;
  readonly settled: number;
  readonly held: number;
}

/** A year, and a day that two zones share. */
const DAYS_MAX = 368;

/**
 * Returns the first and last `dayNumber` of a budget's period so far. Undefined for limits that do not add
 * up over days.
 */
export function agreementDays(
  { kind, per, period, zone }: Pick<CountedBudget, 'kind' | 'per' | 'period' | 'zone'>,
  usageZone: string,
  nowMs: number,
): { readonly from: number; readonly to: number } | undefined {
  if (!isForecastable(kind) || per === 'minute' || per === 'hour') return undefined;
  if (period === undefined || !Number.isFinite(period.startMs)) return undefined;
  const to = dayNumber(dayIn(usageZone, nowMs));
  const from = dayNumber(dayIn(zone, period.startMs));
  return to - from >= DAYS_MAX ? undefined : { from, to };
}

interface AgreementFrom {
  /** The budget's days of usage, see {@link agreementDays}. */
  readonly days: readonly UsageCounts[];
  /** IANA zone of the days of usage. */
  readonly usageZone: string;
  /** Undefined before the first recount. */
  readonly recount: RecountOutcome | undefined;
}

export function budgetAgreement(budget: CountedBudget, from: AgreementFrom): BudgetAgreement {
  const { subject, id: limit, kind, unit, zone, period, settled, held } = budget;
  const { usageHasHeld, usedOn } = kindRow(kind);
  const counterAmount = usageHasHeld ? settled + held : settled;
  const usageAmount = from.days.reduce((sum, day) => sum + (usedOn?.(day) ?? 0), 0);
  const key = period?.key ?? '';
  const records = recordsOf({ subject, limit, period: key }, period?.startMs ?? 0, from.recount);
  return {
    ...{ subject, limit, unit, period: key, counterAmount, usageAmount },
    ...(counterAmount !== usageAmount && {
      cause:
        zone !== from.usageZone ? 'other_zone' : counterAmount > usageAmount ? 'not_added_up' : 'not_counted',
    }),
    ...(records !== undefined && { records }),
  };
}

function recordsOf(
  key: { readonly subject: string; readonly limit: string; readonly period: string },
  startMs: number,
  recount: RecountOutcome | undefined,
): BudgetAgreement['records'] {
  // A recount from before the period does not cover it.
  if (recount === undefined || recount.recountedAtMs < startMs) return undefined;
  const { recountedAtMs, drifting, unlisted } = recount;
  const found = drifting.find(
    (each) =>
      each.key.subject === key.subject && each.key.limit === key.limit && each.key.period === key.period,
  );
  if (found !== undefined) return { recountedAtMs, counterBeyond: found.committed - found.recounted };
  return { recountedAtMs, counterBeyond: unlisted > 0 ? undefined : 0 };
}
