/** When limits run out, if every day uses what its weekday did in the last four weeks. */

import { type Usage, usageOf } from '../../../functions/core/usage/usage.ts';
import type { DailyUsage } from '../../../policies/forecast/daily-usage.ts';
import { HISTORY_DAYS } from '../../../policies/forecast/daily-usage.ts';
import { type Forecast, runOut } from '../../../policies/forecast/run-out.ts';
import { type CalendarDay, calendarDay, dayNumber, two } from '../../../policies/limits/calendar.ts';
import { limitPeriod } from '../../../policies/limits/limits.ts';
import { dayIn } from '../../../policies/limits/zone.ts';
import { unitRow } from '../../../policies/units/unit.ts';
import type { DeskIo } from '../../terminal/command.ts';
import { rollupZone } from '../rollup-zone.ts';
import type { Budget } from './open-budget.ts';
import type { Standing } from './standing.ts';

/** Four weeks of days each: more would be a scan in small pieces. */
export const FORECASTS_MAX = 400;
const SUBJECTS_AT_ONCE = 20;

/** One per standing, same order; undefined: nobody knows, or nothing can run out. */
export async function forecasts(
  all: readonly Standing[],
  { rollup }: Pick<Budget, 'rollup'>,
  io: Pick<DeskIo, 'env' | 'nowMs'>,
): Promise<readonly (Forecast | undefined)[]> {
  const nowMs = io.nowMs();
  const zone = rollupZone(io);
  const today = dayNumber(dayIn(zone, nowMs));
  const days = Array.from({ length: HISTORY_DAYS }, (_, index) => calendarDay(today - HISTORY_DAYS + index));
  const subjects = [
    ...new Set(
      all
        .slice(0, FORECASTS_MAX)
        .filter(isForecast)
        .map(({ subject }) => subject),
    ),
  ];
  const usages = new Map<string, readonly Usage[]>();
  for (let first = 0; first < subjects.length; first += SUBJECTS_AT_ONCE) {
    const some = subjects.slice(first, first + SUBJECTS_AT_ONCE);
    const keys = some.flatMap((subject) => days.map((day) => ({ subject, day: dayName(day) })));
    const tallies = (await rollup.readUsage(keys)).map(usageOf);
    for (const [index, subject] of some.entries())
      usages.set(subject, tallies.slice(index * days.length, (index + 1) * days.length));
  }
  return all.map((standing, index) => {
    const usage = index < FORECASTS_MAX && isForecast(standing) ? usages.get(standing.subject) : undefined;
    return usage && forecastOf(standing, usage, days, nowMs);
  });
}

function forecastOf(
  { limit, left = 0 }: Standing,
  usages: readonly Usage[],
  days: readonly CalendarDay[],
  nowMs: number,
): Forecast | undefined {
  const usage = days.flatMap((day, index): readonly DailyUsage[] => {
    const counts = usages[index];
    const amount = counts === undefined ? 0 : (unitRow(limit.unit).usedOn?.(counts) ?? 0);
    return amount === 0 ? [] : [{ day, amount }];
  });
  const untilMs = limitPeriod(limit, nowMs)?.endMs ?? Number.POSITIVE_INFINITY;
  return runOut({ usage, left, nowMs, untilMs, zone: limit.zone });
}

/** What is counted at once, or anew every minute, comes and goes. */
export const isForecast = ({ limit: { amount, per, unit } }: Standing): boolean =>
  amount !== 'unlimited' &&
  per !== undefined &&
  per !== 'minute' &&
  per !== 'hour' &&
  unitRow(unit).usedOn !== undefined;

const dayName = ({ year, month, day }: CalendarDay): string => `${year}-${two(month)}-${two(day)}`;
