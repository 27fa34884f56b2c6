/** Limits whose forecast for the end of the period has reached what their owner asked to be told of: looked at once a day. */
import { counterName } from '../../../policies/claim.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import { counterOf, limitAt, limitPeriod } from '../../../policies/limits/limits.ts';
import type { Period } from '../../../policies/limits/period.ts';
import { limitName } from '../../../policies/units/unit-texts.ts';
import { dayText, readDays, today } from '../../answers/reading/usage-days.ts';
import { canRunOut, forecastOf, historySpan } from '../../answers/standing/outlook.ts';
import type { Ledger } from '../../core/ledger/index.ts';
import { subjectPagePath } from '../../core/notify/console-links.ts';
import { findRecipient, type Ownership, subjectLabel } from '../../core/notify/recipient.ts';
import { listForecastLevels } from '../../core/thresholds/levels.ts';
import type { RollupStore } from '../../core/usage/index.ts';
import type { Cursor } from './cursor.ts';
import type { OwnershipReader } from './known.ts';
import type { Notice } from './notice.ts';
import { type NoticeFormat, noticeAmount } from './notice-format.ts';
import { limitsBySubject } from './warned.ts';

/** Eight weeks of days are read for each. */
const LIMITS_MAX = 1_000;

interface ForecastsContext {
  readonly known: OwnershipReader;
  readonly ledger: Pick<Ledger, 'readCounters'>;
  readonly usage: Pick<RollupStore, 'readUsage'>;
  readonly telling: NoticeFormat;
}

interface ForecastNotices {
  readonly notices: readonly Notice[];
  readonly forecasts: Cursor['forecasts'];
}

/** @throws {LedgerError | LimitsError | DirectoryError} */
export async function noticesOfForecasts(
  before: Cursor['forecasts'],
  { known, ledger, usage, telling }: ForecastsContext,
): Promise<ForecastNotices> {
  const { nowMs, zone } = telling;
  const now = today(zone, nowMs);
  const day = dayText(now);
  if (before?.day === day) return { notices: [], forecasts: before };
  const ownership = await known();
  const watched = [...limitsBySubject(ownership, nowMs)]
    .flatMap(([subject, limits]) => limits.map((limit) => ({ subject, limit: limitAt(limit, nowMs) })))
    .filter(({ limit }) => listForecastLevels(limit).length > 0 && canRunOut(limit))
    .slice(0, LIMITS_MAX);
  const told = new Map(Object.entries(before?.told ?? {}).filter(([, endMs]) => nowMs < endMs));
  const counters = await ledger.readCounters(watched.map(({ limit }) => counterOf(limit, nowMs)));
  const counted = new Map(counters.map((counter) => [counterName(counter.key), counter.committed]));
  const days = await readDays(
    watched.map(({ subject }) => subject),
    historySpan(now),
    usage,
  );
  const notices = watched.flatMap(({ subject, limit }): readonly Notice[] => {
    const { kind, amount, zone: limitZone } = limit;
    const period = limitPeriod(limit, nowMs);
    if (amount === 'unlimited' || period === undefined) return [];
    const committed = counted.get(counterName(counterOf(limit, nowMs))) ?? 0;
    const left = amount - committed;
    const times = { nowMs, endMs: period.endMs, zone: limitZone };
    const forecast = forecastOf({ usage: days.get(subject) ?? [], kind, committed, left, ...times });
    const atEnd = Math.max(committed, forecast?.atEndAmount ?? 0);
    const reached = listForecastLevels(limit).filter((level) => atEnd >= level.amount);
    const level = reached.at(-1);
    const idOf = (name: string): string => `forecast:${subject}:${limit.id}:${period.key}:${amount}:${name}`;
    if (level === undefined || told.has(idOf(level.name))) return [];
    for (const { name } of reached) told.set(idOf(name), period.endMs);
    return [forecastNotice(idOf(level.name), { limit, period, level, atEnd, amount }, ownership, telling)];
  });
  return { notices, forecasts: { day, told: Object.fromEntries(told) } };
}

interface ReachedForecast {
  readonly limit: Limit;
  readonly period: Period;
  readonly level: ReturnType<typeof listForecastLevels>[number];
  readonly atEnd: number;
  readonly amount: number;
}

function forecastNotice(
  id: string,
  { limit, period, level, atEnd, amount }: ReachedForecast,
  ownership: Ownership,
  telling: NoticeFormat,
): Notice {
  const { subject, unit } = limit;
  const label = subjectLabel(subject, ownership.directory);
  const to = findRecipient(subject, limit.id, ownership);
  const { name, amount: levelAmount } = level;
  return {
    to,
    id,
    kind: 'forecast-reached',
    subject,
    label,
    lines: [
      `At the pace of the last weeks the ${limitName(limit)} of ${label} comes to ${noticeAmount(atEnd, unit, telling)} of ${noticeAmount(amount, unit, telling)} by the end of ${period.label} (alert at ${name}).`,
    ],
    page: subjectPagePath(subject),
    alert: {
      key: { subject, limit: limit.id, period: period.key },
      level: { measure: 'forecast', level: name, levelAmount, limitAmount: amount, owner: to.owner },
    },
    facts: { limit: limit.id, level: name, forecast: atEnd, amount, unit, period: period.key },
  };
}
