import { two } from '../../../policies/limits/calendar.ts';
import { clockIn } from '../../../policies/limits/zone.ts';
import { writtenDay } from '../../../policies/text/edge-text.ts';
import type { LimitRow } from './model.ts';

/** `Refusing jobs since 00:55`, or with the day if it is not today; undefined: it does not. */
export function refusingText(
  { refusing, zone }: Pick<LimitRow, 'refusing' | 'zone'>,
  nowMs: number,
): string | undefined {
  if (refusing === undefined) return undefined;
  const { hour, minute } = clockIn(zone, refusing.sinceMs);
  const day = writtenDay(refusing.sinceMs, zone);
  const clock = `${two(hour)}:${two(minute)}`;
  return `Refusing jobs since ${day === writtenDay(nowMs, zone) ? clock : `${day} ${clock}`}`;
}
