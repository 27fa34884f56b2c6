/** Numbers of rejected and warned jobs: the rollup's, compared with those that owners know. */
import { periodAt } from '../../policies/limits/period.ts';
import type { RollupStore } from '../core/usage/rollup-store.ts';
import { usageOf } from '../core/usage/usage.ts';
import type { Tallies } from './cursor.ts';
import type { Checkpoint, JobCounts } from './notice.ts';
import type { NoticeContext, NoticesDeps } from './run.ts';

/** Key of the whole instance in {@link Tallies}. */
export const INSTANCE = '*';

/** Keyed by day. */
type CountsByDay = ReadonlyMap<string, JobCounts>;

export interface NewJobs {
  readonly rejected: number;
  /** Keyed by rule; only rules with new jobs. */
  readonly byRule: ReadonlyMap<string, number>;
}

/** The days of one run and the counts that owners know. */
export interface JobsWindow {
  /** Latest first. */
  readonly days: readonly string[];
  /** Unix ms at which the earliest of these days begins. */
  readonly sinceMs: number;
  readonly tallies: Tallies;
  readonly deps: NoticesDeps;
  readonly context: NoticeContext;
}

/** Today and yesterday: the rollup counts a job on the day of its decision, up to a day later. Older jobs are forgotten. */
export function latestDays(nowMs: number, zone: string): Pick<JobsWindow, 'days' | 'sinceMs'> {
  const today = periodAt('day', zone, nowMs);
  const yesterday = periodAt('day', zone, today.startMs - 1);
  return { days: [today.key, yesterday.key], sinceMs: yesterday.startMs };
}

export async function readCounts(
  subjects: readonly string[],
  days: readonly string[],
  usage: Pick<RollupStore, 'readUsage'>,
): Promise<ReadonlyMap<string, CountsByDay>> {
  const keys = subjects.flatMap((subject) => days.map((day) => ({ subject, day })));
  const tallies = await inPieces(keys, (some) => usage.readUsage(some));
  const counts = new Map(subjects.map((subject) => [subject, new Map<string, JobCounts>()]));
  for (const [index, { subject, day }] of keys.entries()) {
    const { rejected, watchedBy } = usageOf(tallies[index] ?? new Map());
    counts.get(subject)?.set(day, { rejected, warned: Object.fromEntries(watchedBy) });
  }
  return counts;
}

/** Counts jobs that owners do not know. */
export function countNew(subject: string, counts: CountsByDay, known: Tallies): NewJobs {
  let rejected = 0;
  const byRule = new Map<string, number>();
  for (const [day, now] of counts) {
    const before = known[day]?.[subject];
    rejected += Math.max(0, (now.rejected ?? 0) - (before?.rejected ?? 0));
    for (const [rule, jobs] of Object.entries(now.warned ?? {})) {
      const more = jobs - (before?.warned?.[rule] ?? 0);
      if (more > 0) byRule.set(rule, (byRule.get(rule) ?? 0) + more);
    }
  }
  return { rejected, byRule };
}

export interface SubjectNews extends NewJobs {
  readonly subject: string;
  readonly checkpoints: readonly Checkpoint[];
}

/** @param pick - the part of the counts that a notice reports: only this part becomes known to owners. */
export async function findNews(
  subjects: readonly string[],
  pick: (counts: JobCounts, subject: string) => JobCounts,
  { days, tallies, deps: { usage } }: JobsWindow,
): Promise<{ readonly news: readonly SubjectNews[]; readonly tallies: Tallies }> {
  const counts = new Map<string, CountsByDay>();
  for (const [subject, byDay] of await readCounts(subjects, days, usage))
    counts.set(subject, new Map([...byDay].map(([day, all]) => [day, pick(all, subject)])));
  const news = [...counts].flatMap(([subject, byDay]): readonly SubjectNews[] => {
    const jobs = countNew(subject, byDay, tallies);
    if (jobs.rejected === 0 && jobs.byRule.size === 0) return [];
    const checkpoints = [...byDay].map(([day, each]) => ({
      ...({ kind: 'tally', day, subject } as const),
      counts: each,
    }));
    return [{ ...jobs, subject, checkpoints }];
  });
  return { news, tallies: mergeCounts(tallies, counts) };
}

export function mergeCounts(tallies: Tallies, counts: ReadonlyMap<string, CountsByDay>): Tallies {
  const next = Object.fromEntries(Object.entries(tallies).map(([day, known]) => [day, { ...known }]));
  for (const [subject, byDay] of counts) {
    for (const [day, now] of byDay) {
      const before = next[day]?.[subject];
      // Most subjects have no jobs to keep. A count that fell back to 0 is kept.
      if (before === undefined && isEmpty(now)) continue;
      const warned = { ...before?.warned, ...now.warned };
      const onDay = next[day] ?? {};
      next[day] = onDay;
      onDay[subject] = { ...before, ...now, ...(now.warned !== undefined && { warned }) };
    }
  }
  return next;
}

const isEmpty = ({ rejected = 0, warned = {} }: JobCounts): boolean =>
  rejected === 0 && Object.values(warned).every((jobs) => jobs === 0);

/** One read has three seconds. */
const PIECE = 2_000;

/** Reads in order. */
export async function inPieces<Key, Value>(
  keys: readonly Key[],
  read: (some: readonly Key[]) => Promise<readonly Value[]>,
): Promise<readonly Value[]> {
  const values: Value[] = [];
  for (let start = 0; start < keys.length; start += PIECE)
    for (const value of await read(keys.slice(start, start + PIECE))) values.push(value);
  return values;
}
