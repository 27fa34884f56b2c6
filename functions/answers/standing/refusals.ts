/** Which budgets refuse jobs now, from the latest rejections of their subjects. */
import { HOUR_MS } from '../../../policies/limits/calendar.ts';
import type { ReadContext } from '../reading/reading.ts';
import type { UsageBySubject } from '../reading/usage-days.ts';
import type { RefusingRow } from './model.ts';

/** Keyed by `group/101 money-month`. */
export type Refusals = ReadonlyMap<string, RefusingRow>;

/** A budget that refused nothing for so long does not refuse jobs any more, as far as its jobs show. */
const STREAK_GAP_MS = HOUR_MS;
/** Each has a list of fifty jobs. */
const LISTS_MAX = 100;
/** Ten requests of a hundred keys. */
const RECORDS_MAX = 1_000;

/**
 * Reads the lists of subjects whose usage has rejections of today or yesterday, and the records of these jobs.
 *
 * The list of the whole GitLab is always read: runner classes, runners and users have none of their own.
 *
 * @throws {LedgerError}
 */
export async function refusalsNow(
  usage: UsageBySubject,
  nowMs: number,
  reading: Pick<ReadContext, 'usage' | 'ledger'>,
): Promise<Refusals> {
  const rejecting = [...usage].flatMap(([subject, days]) => {
    const recent = days.slice(-2).reduce((sum, { rejected }) => sum + rejected, 0);
    return recent > 0 && subject !== 'instance' && !subject.startsWith('runner-class/')
      ? [{ subject, recent }]
      : [];
  });
  const most = rejecting.sort((a, b) => b.recent - a.recent).slice(0, LISTS_MAX);
  const lists = await reading.usage.readRejections(['instance', ...most.map(({ subject }) => subject)]);
  const sinceMs = nowMs - 24 * STREAK_GAP_MS;
  const recent = lists.flatMap(({ jobs }) => jobs).filter(({ atMs }) => atMs > sinceMs);
  const ids = [...new Set(recent.sort((a, b) => b.atMs - a.atMs).map(({ jobId }) => jobId))];
  if (ids.length === 0) return new Map();
  const records = await reading.ledger.readRecords(ids.slice(0, RECORDS_MAX));
  const refusing = new Map<string, RefusingRow>();
  // The latest first: a streak grows back in time until the first gap.
  for (const record of records) {
    if (record?.state !== 'REJECTED') continue;
    const { decidedAtMs } = record;
    for (const limit of new Set(
      record.violations.flatMap(({ reason }) =>
        'limit' in reason ? [`${reason.subject} ${reason.limit}`] : [],
      ),
    )) {
      const streak = refusing.get(limit);
      if ((streak?.sinceMs ?? nowMs) - decidedAtMs > STREAK_GAP_MS) continue;
      refusing.set(limit, {
        sinceMs: Math.min(decidedAtMs, streak?.sinceMs ?? decidedAtMs),
        lastMs: streak?.lastMs ?? decidedAtMs,
        jobs: (streak?.jobs ?? 0) + 1,
      });
    }
  }
  return refusing;
}
