/** Jobs that were rejected, or would have been, since their owners were notified. */
import {
  countNew,
  firstKeptDay,
  INSTANCE,
  type JobsWindow,
  latestDays,
  mergeCounts,
  openDays,
  pruneDays,
  readCounts,
} from './job-counts.ts';
import type { Notice } from './notice.ts';
import { findRejectedJobs } from './rejected-jobs.ts';
import type { Findings, Run } from './run.ts';
import { findWarnedJobs } from './warned-jobs.ts';

/**
 * 1. Compare the counts of the instance with those that owners know.
 * 2. If they moved, find the groups with new rejected jobs, and the subjects with new warned jobs.
 * 3. Keep the new counts; of past days only those of the instance.
 */
export async function findJobNotices(run: Run): Promise<Findings> {
  const { cursor, deps, nowMs } = run;
  const latest = latestDays(nowMs, deps.zone);
  const keys = latest.map(({ day }) => day);
  const instance = (await readCounts(['instance'], keys, deps.usage)).get('instance') ?? new Map();
  const open = openDays(latest, instance, cursor);
  const days = open.map(({ day }) => day);
  const inOpenDays = new Map([...instance].filter(([day]) => days.includes(day)));
  const { rejected, byRule } = countNew(INSTANCE, inOpenDays, cursor.tallies);

  let { tallies } = cursor;
  const notices: Notice[] = [];
  const find = async (kind: typeof findRejectedJobs): Promise<void> => {
    const sinceMs = open.at(-1)?.startMs ?? nowMs;
    const window: JobsWindow = { days, sinceMs, tallies, deps, context: await run.context() };
    const found = await kind(window);
    notices.push(...found.notices);
    tallies = found.tallies;
  };
  if (rejected > 0 || cursor.again === true) await find(findRejectedJobs);
  if (byRule.size > 0) await find((window) => findWarnedJobs(new Set(byRule.keys()), window));

  const talliesSince = cursor.talliesSince ?? firstKeptDay(latest);
  return {
    notices: run.isFirst ? [] : notices,
    next: {
      tallies: pruneDays(mergeCounts(tallies, new Map([[INSTANCE, instance]])), latest),
      ...(talliesSince !== undefined && { talliesSince }),
      again: rejected > 0,
    },
  };
}
