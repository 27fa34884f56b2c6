/** Lists alerts sent to owners in the current period. */
import { counterName } from '../../../policies/claim.ts';
import { isCap } from '../../../policies/limits/cap.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import { counterOf, limitAt } from '../../../policies/limits/limits.ts';
import type { AlertRecord } from '../../core/thresholds/alert-records.ts';
import { listForecastLevels, listThresholdLevels } from '../../core/thresholds/levels.ts';
import type { ReadContext } from '../reading/reading.ts';
import type { SubjectLimit } from './group-limits.ts';
import type { AlertRow, LimitRow } from './model.ts';

/** The oldest first. */
export type AlertsByCounter = ReadonlyMap<string, readonly AlertRecord[]>;

/** Longer lists are not read. */
const SHOWN_MAX = 10;

/** Skips limits without alerts. @throws {LedgerError} */
export async function alertsOfLimits(
  havings: readonly SubjectLimit[],
  { alerts }: Pick<ReadContext, 'alerts'>,
  nowMs: number,
): Promise<AlertsByCounter> {
  if (alerts === undefined) return new Map();
  const asks = havings.flatMap(({ limit: written }) => {
    if (isCap(written.subject)) return [];
    const [limit, key] = [limitAt(written, nowMs), counterOf(written, nowMs)];
    return [
      ...(listThresholdLevels(limit).length > 0 ? [{ of: 'thresholds', key } as const] : []),
      ...(listForecastLevels(limit).length > 0 ? [{ of: 'forecasts', key } as const] : []),
    ];
  });
  const read = await alerts.read(asks);
  const found = new Map<string, readonly AlertRecord[]>();
  for (const [index, { key }] of asks.entries()) {
    const name = counterName(key);
    found.set(name, [...(found.get(name) ?? []), ...(read[index] ?? [])]);
  }
  return found;
}

/** The latest first. */
export function alertRows(
  marks: readonly AlertRecord[] | undefined,
  amount: Limit['amount'],
): Pick<LimitRow, 'alerts'> {
  if (marks === undefined) return {};
  const rows = marks.map(
    ({ owner, limitAmount, ...mark }): AlertRow => ({
      ...mark,
      limitAmount,
      addressee: owner,
      ...(limitAmount !== amount && { withdrawn: true }),
    }),
  );
  // List the highest of several levels reached together first.
  rows.sort((a, b) => lastMs(b) - lastMs(a) || b.levelAmount - a.levelAmount);
  return { alerts: rows.slice(0, SHOWN_MAX) };
}

const lastMs = ({ channels }: AlertRow): number => Math.max(0, ...channels.map(({ atMs }) => atMs));
