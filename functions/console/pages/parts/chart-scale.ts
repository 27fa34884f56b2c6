import { DAY_MS } from '../../../../policies/limits/calendar.ts';

/** Steps that people count in. */
const STEPS: readonly number[] = [1, 2, 2.5, 5, 10];
const TICKS = 4;

/** From 0 upwards, in round steps of whole units, so that the last one is not below `highest`. */
export function roundTicks(highest: number): readonly number[] {
  const rough = Math.max(highest / TICKS, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.ceil((STEPS.find((each) => each * power >= rough) ?? 10) * power);
  const count = Math.ceil(Math.max(highest, 1) / step);
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

/** Days as numbers that can be placed side by side. */
export const dayNumberOf = (day: string): number => Math.round(Date.parse(`${day}T00:00:00Z`) / DAY_MS);

/** `21 Nov` */
export function shortDayLabel(day: string): string {
  const at = new Date(`${day}T00:00:00Z`);
  return `${at.getUTCDate()} ${at.toLocaleString('en-GB', { month: 'short', timeZone: 'UTC' })}`;
}

/** `1 to 22 Nov 2026`, `30 Oct to 22 Nov 2026`, `30 Dec 2026 to 2 Jan 2027`. */
export function daySpan({ fromDay, toDay }: { readonly fromDay: string; readonly toDay: string }): string {
  const [year, month] = [toDay.slice(0, 4), toDay.slice(0, 7)];
  const to = `${shortDayLabel(toDay)} ${year}`;
  if (fromDay === toDay) return to;
  if (fromDay.startsWith(month)) return `${Number(fromDay.slice(8))} to ${to}`;
  return fromDay.startsWith(year)
    ? `${shortDayLabel(fromDay)} to ${to}`
    : `${shortDayLabel(fromDay)} ${fromDay.slice(0, 4)} to ${to}`;
}
