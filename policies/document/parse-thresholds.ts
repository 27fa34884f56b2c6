import type { LimitKind } from '../units/unit.ts';
import { isAtOnce } from '../units/unit.ts';
import type { Reading } from './reading.ts';

/** More would be a stream of messages, not a warning. */
const THRESHOLDS_MAX = 10;
/** Above 100 for limits that only warn, and for what overran. */
const PERCENT_MAX = 1_000;

/**
 * Reads `thresholds: [50, 75, 90, 100]`: whole percent of the limit, in rising order whatever the order written; `[]`
 * announces nothing. Undefined where nothing stands: then the default of whoever announces holds.
 */
export function readThresholds(reading: Reading): readonly number[] | undefined {
  if (!reading.isThere) return undefined;
  const percents: number[] = [];
  for (const each of reading.list('percents such as [50, 75, 90, 100]', THRESHOLDS_MAX)) {
    const percent = each.integer(`a whole percent of the limit from 1 to ${PERCENT_MAX}`, 1, PERCENT_MAX);
    if (percent === undefined) continue;
    if (percents.includes(percent)) each.expected('a percent that is named once');
    else percents.push(percent);
  }
  return percents.sort((a, b) => a - b);
}

/** The same for one limit: only what is counted per period, and in one longer than an hour, is worth announcing. */
export function readLimitThresholds(
  reading: Reading,
  kind: LimitKind,
  per: string | undefined,
): readonly number[] | undefined {
  if (!reading.isThere) return undefined;
  if (isAtOnce(kind))
    return reading.expected(`nothing: ${kind} of running jobs rise and fall all day, in no period`);
  if (per === 'minute' || per === 'hour')
    return reading.expected(`nothing: every ${per} would announce them anew`);
  return readThresholds(reading);
}
