/**
 * Compares three figures of a budget's use: the counter of admissions, the days of usage of charts, and the
 * records of statements. They are computed independently.
 */
import { dayIn, dayNumber } from '../../../policies/limits/calendar.ts';
import { isForecastable, kindRow, type UsageCounts } from '../../../policies/unit.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { RecountOutcome } from '../../core/ledger/checkpoints.ts';
import type { LimitRow } from '../status/model.ts';
import type { BudgetAgreement } from './model.ts';

/** A year, and a day that two zones share. */
const DAYS_MAX = 368;

interface AgreementFrom {
  /** Days of usage of the limit's subject. */
  readonly days: readonly (UsageCounts & { readonly number: number })[];
  /** IANA zone of the days of usage. */
  readonly zone: string;
  readonly nowMs: number;
  /** Undefined before the first recount. */
  readonly recount: RecountOutcome | undefined;
}

/** Returns undefined for limits whose use does not add up over days, or that are not counted. */
export function agreementOf(
  row: LimitRow,
  { days, zone, nowMs, recount }: AgreementFrom,
): BudgetAgreement | undefined {
  const { subject, id: limit, kind, unit, per, period, settled, held } = row;
  if (!isForecastable(kind) || per === 'minute' || per === 'hour' || !row.inForce) return undefined;
  if (settled === undefined || held === undefined) return undefined;
  if (period === undefined || !Number.isFinite(period.startMs)) return undefined;
  const from = dayNumber(dayIn(row.zone, period.startMs));
  const to = dayNumber(dayIn(zone, nowMs));
  if (to - from >= DAYS_MAX) return undefined;
  const { usageHasHeld, usedOn } = kindRow(kind);
  const counterAmount = usageHasHeld ? settled + held : settled;
  const usageAmount = days
    .filter(({ number }) => number >= from && number <= to)
    .reduce((sum, day) => sum + (usedOn?.(day) ?? 0), 0);
  const surplus = counterAmount > usageAmount ? 'not_added_up' : 'not_counted';
  const cause = row.zone === zone ? surplus : 'other_zone';
  return {
    ...{ subject, limit, unit, period: period.key, counterAmount, usageAmount },
    ...(counterAmount !== usageAmount && { cause }),
    ...withoutAbsent({ records: recordsOf(row, period, recount) }),
  };
}

function recordsOf(
  { subject, id }: LimitRow,
  { key: periodKey, startMs }: NonNullable<LimitRow['period']>,
  recount: RecountOutcome | undefined,
): BudgetAgreement['records'] {
  // A recount from before the period does not cover it.
  if (recount === undefined || recount.recountedAtMs < startMs) return undefined;
  const { recountedAtMs, drifting, unlisted } = recount;
  const found = drifting.find(
    ({ key }) => key.subject === subject && key.limit === id && key.period === periodKey,
  );
  if (found !== undefined) return { recountedAtMs, counterBeyond: found.committed - found.recounted };
  return { recountedAtMs, counterBeyond: unlisted > 0 ? undefined : 0 };
}
