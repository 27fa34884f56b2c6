/** Forecasts for the end of the period that reach a level of their limit. Read once a day. */
import { type CounterKey, counterName } from '../../policies/claim.ts';
import type { Limit } from '../../policies/limits/limit.ts';
import { counterOf, limitAt, limitPeriod } from '../../policies/limits/limits.ts';
import type { Period } from '../../policies/limits/period.ts';
import { limitName } from '../../policies/unit-texts.ts';
import { dayText, readDays, today } from '../answers/reading/usage-days.ts';
import { canRunOut, forecastOf, historySpan } from '../answers/status/outlook.ts';
import { findRecipient, subjectLabel } from '../core/notify/recipient.ts';
import { isSent } from '../core/thresholds/alert-records.ts';
import { listForecastLevels, type ThresholdLevel } from '../core/thresholds/levels.ts';
import { aNotice, type Notice, wholeAmountText } from './notice.ts';
import { type Findings, limitsBySubject, type NoticeContext, type Run } from './run.ts';

/** Each needs eight weeks of days. */
const LIMITS_MAX = 1_000;

/** @throws {LedgerError | LimitsError | DirectoryError} */
export async function findForecastNotices({ cursor, deps, nowMs, context }: Run): Promise<Findings> {
  const { zone, ledger, usage, alerts } = deps;
  const now = today(zone, nowMs);
  const day = dayText(now);
  if (cursor.forecastDay === day) return { notices: [], next: {} };
  const read = await context();
  const watched = [...limitsBySubject(read)]
    .flatMap(([subject, limits]) => limits.map((limit) => ({ subject, limit: limitAt(limit, nowMs) })))
    .filter(({ limit }) => listForecastLevels(limit).length > 0 && canRunOut(limit))
    .slice(0, LIMITS_MAX);
  const counters = await ledger.readCounters(watched.map(({ limit }) => counterOf(limit, nowMs)));
  const counted = new Map(counters.map((counter) => [counterName(counter.key), counter.committed]));
  const subjects = watched.map(({ subject }) => subject);
  const days = await readDays(subjects, historySpan(now), usage);
  const reached = watched.flatMap(({ subject, limit }): readonly ReachedForecast[] => {
    const { kind, amount } = limit;
    const period = limitPeriod(limit, nowMs);
    if (amount === 'unlimited' || period === undefined) return [];
    const committed = counted.get(counterName(counterOf(limit, nowMs))) ?? 0;
    const times = { nowMs, endMs: period.endMs, zone: limit.zone };
    const left = amount - committed;
    const forecast = forecastOf({ usage: days.get(subject) ?? [], kind, committed, left, ...times });
    const atEnd = Math.max(committed, forecast?.atEndAmount ?? 0);
    const level = listForecastLevels(limit).findLast((each) => atEnd >= each.amount);
    const key = { subject, limit: limit.id, period: period.key };
    return level === undefined ? [] : [{ key, limit, period, level, atEnd, limitAmount: amount }];
  });
  const records = await alerts.read(reached.map(({ key }) => ({ of: 'forecasts', key })));
  const unsent = reached.filter((each, at) => !isSent({ ...each, measure: 'forecast' }, records[at] ?? []));
  return { notices: unsent.map((each) => forecastNotice(each, read)), next: { forecastDay: day } };
}

interface ReachedForecast {
  readonly key: CounterKey;
  readonly limit: Limit;
  readonly period: Period;
  readonly level: ThresholdLevel;
  readonly atEnd: number;
  readonly limitAmount: number;
}

function forecastNotice(
  { key, limit, period, level, atEnd, limitAmount }: ReachedForecast,
  context: NoticeContext,
): Notice {
  const { subject, unit } = limit;
  const to = findRecipient(subject, limit.id, context);
  const text = (whole: number): string => wholeAmountText(whole, unit, context);
  const what = `the ${limitName(limit)} of ${subjectLabel(subject, context.directory)}`;
  const reached = { measure: 'forecast', level: level.name, levelAmount: level.amount, limitAmount } as const;
  return aNotice('forecast-reached', subject, context, {
    to,
    id: `forecast:${subject}:${limit.id}:${period.key}:${limitAmount}:${level.name}`,
    lines: [
      `At the pace of the last weeks ${what} comes to ${text(atEnd)} of ${text(limitAmount)} by the end of ${period.label} (alert at ${level.name}).`,
    ],
    alert: { key, level: { ...reached, owner: to.owner } },
    facts: { limit: limit.id, level: level.name, forecast: atEnd, amount: limitAmount, unit },
  });
}
