import { countText } from './digits.ts';

const MINUTE_SECONDS = 60;

/**
 * Used time as GitLab shows it: `90 min`, `1,000 min`, `7.5 min`; below a minute `45 s`. Rounded up to a tenth, because
 * what is asked for must not look smaller than it is; `down` for what is left or allowed.
 */
export function durationText(seconds: number, rounding: 'up' | 'down' = 'up'): string {
  if (seconds !== 0 && Math.abs(seconds) < MINUTE_SECONDS) return `${seconds} s`;
  const minutes = (rounding === 'down' ? Math.floor(seconds / 6) : Math.ceil(seconds / 6)) / 10;
  return `${countText(minutes)} min`;
}

/** How far away something is, in the largest unit that fits: `in 8 days`, `in 1 hour`, `in 12 minutes`. */
export function relativeText(fromMs: number, toMs: number): string {
  const minutes = Math.max(0, Math.ceil((toMs - fromMs) / 60_000));
  if (minutes < 1) return 'now';
  if (minutes < 120) return `in ${counted(minutes, 'minute')}`;
  if (minutes < 48 * 60) return `in ${counted(Math.round(minutes / 60), 'hour')}`;
  return `in ${counted(Math.round(minutes / 1_440), 'day')}`;
}

const counted = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? '' : 's'}`;
