/** A limit and its counter as one row. Pure. */

import { type CounterKey, counterName } from '../../../policies/claim.ts';
import { capOf } from '../../../policies/limits/cap.ts';
import { type CohortTerms, cohortTermsOf } from '../../../policies/limits/cohort.ts';
import { grantedAt, grantsOf, type Limit } from '../../../policies/limits/limit.ts';
import { writtenLimit } from '../../../policies/limits/limit-fields.ts';
import { counterOf, type LimitSet, limitAt, limitPeriod } from '../../../policies/limits/limits.ts';
import { isValidAt } from '../../../policies/limits/period.ts';
import type { Mode } from '../../../policies/mode.ts';
import { isInFlight } from '../../../policies/units/unit.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { Counter } from '../../core/ledger/index.ts';
import type { AlertRecord } from '../../core/thresholds/alert-records.ts';
import { listForecastLevels, listThresholdLevels, OVERDRAFT } from '../../core/thresholds/levels.ts';
import type { CountersByName } from '../reading/counters-now.ts';
import type { DayUsage } from '../reading/usage-days.ts';
import { alertRows } from './alerts.ts';
import type { ForecastRow, LimitRow } from './model.ts';
import { canRunOut, forecastOf } from './outlook.ts';
import type { Refusals } from './refusals.ts';

interface RowWith {
  readonly nowMs: number;
  /** Absent: nothing was ever counted. */
  readonly counter: Counter | undefined;
  /** Its mode by rule and rollout. */
  readonly asked: Mode;
  /** The subject's usage of the last eight weeks at least; absent: nothing is forecast. */
  readonly usage?: readonly DayUsage[] | undefined;
  /** True to add the forecast's range and past errors; the usage then has nine months. */
  readonly tested?: boolean | undefined;
  readonly byDefault: boolean;
  /** Alerts of its period, oldest first. Absent: none. */
  readonly alerts?: readonly AlertRecord[] | undefined;
  /** Absent: it is not known which limits refuse jobs. */
  readonly refusals?: Refusals | undefined;
  /** Only of a limit in a cohort. */
  readonly cohort?: CohortStanding | undefined;
}

interface CohortStanding {
  readonly terms: CohortTerms;
  /** The counter of {@link lentCounter}; absent: no job was ever counted there. */
  readonly lent: Counter | undefined;
}

/** If no member keeps a part, the lent amount is the cohort's sum. */
const lentCounter = ({ counters }: CohortTerms): CohortTerms['counters'][number] | undefined =>
  counters.find(({ from }) => from !== 'kept');

/** Returns undefined if the limit is in no cohort. */
export function cohortStanding(
  written: Limit,
  limits: LimitSet,
  counters: CountersByName,
  nowMs: number,
): CohortStanding | undefined {
  const terms = cohortTermsOf(limitAt(written, nowMs), limits, nowMs);
  const lent = terms && lentCounter(terms);
  return lent && { terms, lent: counters.get(counterName(lent.counter)) };
}

/** The counters that a row of the limit shows. */
export function rowCounters(written: Limit, limits: LimitSet, nowMs: number): readonly CounterKey[] {
  const terms = cohortTermsOf(limitAt(written, nowMs), limits, nowMs);
  const lent = terms && lentCounter(terms);
  return [counterOf(written, nowMs), ...(lent === undefined ? [] : [lent.counter])];
}

export function limitRow(written: Limit, using: RowWith): LimitRow {
  const { nowMs, counter, asked, byDefault } = using;
  const limit = limitAt(written, nowMs);
  const { committed = 0, settled = 0, fitted = 0 } = counter ?? {};
  const period = limitPeriod(limit, nowMs);
  const final = isInFlight(limit.unit) ? 0 : settled;
  const { amount, softAmount, graceAmount, per, fromMs, untilMs } = limit;
  const each = capOf(limit.subject)?.kind;
  // Admissions write no counter of these: 0 would say that nothing was used.
  const counted = amount === 'unlimited' || asked === 'off' || each !== undefined ? undefined : amount;
  const left = counted === undefined ? undefined : counted - committed;
  const forecast = forecastFor(limit, committed, left, using);
  const isBudget = asked === 'enforce' && isValidAt(limit, nowMs) && canRunOut(limit);
  const refusing = isBudget ? using.refusals?.get(`${limit.subject} ${limit.id}`) : undefined;
  return {
    subject: limit.subject,
    ...withoutAbsent({ each }),
    id: limit.id,
    kind: limit.kind,
    unit: limit.unit,
    amount,
    baseAmount: written.amount,
    granted: grantedAt(grantsOf(written), nowMs),
    carried: carriedOf(written, period?.key),
    ...writtenLimit(written),
    ...(using.cohort !== undefined && sharedOf(using.cohort, committed)),
    ...withoutAbsent({ softAmount, graceAmount, per }),
    ...(period !== undefined && {
      period: { key: period.key, label: period.label, startMs: period.startMs, endMs: period.endMs },
    }),
    ...thresholdsOf(limit, settled, committed, forecast),
    ...alertRows(using.alerts, amount),
    zone: limit.zone,
    mode: limit.mode,
    ...(asked !== limit.mode && { rolledOutAs: asked }),
    ...(counted !== undefined && {
      settled: final,
      held: committed - final,
      fitted,
      left: counted - committed,
      percent: percentOf(committed, counted),
    }),
    ...withoutAbsent({ forecast, refusing, fromMs, untilMs }),
    ...(byDefault && { byDefault: true }),
    inForce: isValidAt(limit, nowMs),
  };
}

function thresholdsOf(
  limit: Limit,
  settled: number,
  committed: number,
  forecast: ForecastRow | undefined,
): Pick<LimitRow, 'thresholds'> {
  const levels = listThresholdLevels(limit).map(({ name, amount }) => ({
    ...{ name, amount },
    // Held amounts may return: only settled amounts are overdrawn.
    reached: (name === OVERDRAFT ? settled : committed) >= amount,
  }));
  const atEnd = Math.max(committed, forecast?.atEndAmount ?? 0);
  const forecasts = listForecastLevels(limit).map((level) => ({ ...level, reached: atEnd >= level.amount }));
  const all = [...levels, ...forecasts];
  return all.length > 0 ? { thresholds: all } : {};
}

const sharedOf = (
  { terms, lent }: CohortStanding,
  committed: number,
): Pick<LimitRow, 'borrowed' | 'shared'> => ({
  borrowed: Math.max(0, committed - terms.own),
  shared: {
    amount: lentCounter(terms)?.bound ?? 0,
    used: lent?.committed ?? 0,
    mayBorrow: terms.most - terms.own,
  },
});

const carriedOf = ({ opening }: Limit, period: string | undefined): number =>
  opening !== undefined && opening.period === period ? opening.carried : 0;

/** Whole percent, rounded down, so that 100 is not said before it is so. A limit of nothing is always used up. */
export const percentOf = (committed: number, amount: number): number =>
  amount === 0 ? 100 : Math.max(0, Number((BigInt(committed) * 100n) / BigInt(amount)));

function forecastFor(
  limit: Limit,
  committed: number,
  left: number | undefined,
  { usage, tested, nowMs }: RowWith,
): ForecastRow | undefined {
  const { kind, zone } = limit;
  const period = limitPeriod(limit, nowMs);
  if (usage === undefined || period === undefined || left === undefined) return undefined;
  if (left > 0 && !canRunOut(limit)) return undefined;
  return forecastOf({ usage, kind, committed, left, nowMs, endMs: period.endMs, zone, tested });
}
