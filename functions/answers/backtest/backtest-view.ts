/** What edits would have done to the jobs of the last days: the jobs' own records, lived again. */
import { calendarDay, dayNumber } from '../../../policies/limits/calendar.ts';
import { dayIn, dayStartMs } from '../../../policies/limits/zone.ts';
import type { LimitEdit } from '../../core/limits/index.ts';
import { rateLimit } from '../../core/signin/index.ts';
import { judgeEdits } from '../preview/preview-view.ts';
import type { ReadContext } from '../reading/reading.ts';
import { subjectLabelOf } from '../reading/scope.ts';
import { dayText, readDays } from '../reading/usage-days.ts';
import type { Viewer } from '../reading/viewer.ts';
import { type BacktestComparison, compareRecent, type EditComparison } from './compare-recent.ts';
import { JobSubjects } from './job-subjects.ts';
import type { BacktestAnswer, BacktestCounts, BacktestSummary } from './model.ts';
import { type PriorUsage, usedBefore } from './used-before.ts';

const LOOK_BACK_DAYS = 30;
/** Records and limits of a request together take some 100 MB of the function's memory, and a third of a CPU ten seconds. */
const RECORDS_MAX = 20_000;
/** Ids of jobs that never asked cost a read, too. */
const IDS_MAX = 40_000;
const READ_MS = 5_000;
/** The function itself has 15 s. */
const ALL_MS = 10_000;
/** An import names thousands; it shows its first, and all of them together. */
const SUBJECTS_SHOWN = 20;
/** Each costs up to 40 000 reads: nobody needs more, and a script left alone must not cost a fortune. */
const OFTEN = { max: 6, windowMs: 60_000 };

export function backtestOf(reading: ReadContext, compareEdit: EditComparison | undefined) {
  const often = rateLimit({ ...OFTEN, clock: reading.clock });
  return async (
    edits: readonly LimitEdit[],
    base: string | undefined,
    viewer: Viewer,
  ): Promise<BacktestAnswer> => {
    const judged = await judgeEdits(edits, base, viewer, reading);
    if (judged.outcome !== 'valid') return judged;
    const retryAfterSeconds = often.take(String(viewer.id));
    if (retryAfterSeconds !== undefined) return { outcome: 'too_often', retryAfterSeconds };
    const { preview, now, places } = judged;
    const { directory } = places;
    const edited = [...new Set(preview.rows.map(({ subject }) => subject))];
    const days = daysBack(reading);
    const subjects = new JobSubjects(edited, directory);
    const untilMs = reading.clock.nowMs();
    const used = usedBefore(reading, directory);
    const edit = {
      ...{ sinceMs: days.sinceMs, untilMs, policy: reading.policy, directory },
      ...{ before: now.limits, after: preview.limits, subjects },
    };
    const compared =
      compareEdit === undefined
        ? await compareRecent({
            ...edit,
            beginAt: days.beginAt,
            reads: recentReads(reading, used),
            bounds: recentBounds(reading),
          })
        : await compareEdit(edit);
    const listed = edited.slice(0, SUBJECTS_SHOWN);
    const missed =
      compared.untilMs === untilMs
        ? await missedOf(listed, compared, days, reading)
        : new Map<string, number>();
    return {
      outcome: 'counted',
      set: now.set,
      days: LOOK_BACK_DAYS,
      fromMs: compared.fromMs,
      untilMs: compared.untilMs,
      fromDay: dayText(days.numberOf(compared.fromMs)),
      complete: compared.complete && used.complete && [...missed.values()].every((jobs) => jobs === 0),
      all: compared.all,
      subjects: listed.map((subject) => ({
        subject,
        path: subjectLabelOf(subject, directory),
        ...(compared.bySubject.get(subject) ?? NOTHING),
        missed: missed.get(subject) ?? 0,
      })),
      jobsRead: compared.jobsRead,
    } satisfies BacktestSummary;
  };
}

const NOTHING: BacktestCounts = { jobs: 0, wouldFail: 0, wouldFailNow: 0, failed: 0, unasked: 0 };

interface DaysBack {
  readonly sinceMs: number;
  /** `dayNumber` */
  readonly today: number;
  readonly numberOf: (atMs: number) => number;
  /** Moves an instant to the next whole day; where there is none, leaves it as it is. */
  readonly beginAt: (fromMs: number) => number;
  readonly startOf: (day: number) => number;
}

function daysBack({ zone, clock }: ReadContext): DaysBack {
  const numberOf = (atMs: number): number => dayNumber(dayIn(zone, atMs));
  const startOf = (day: number): number => dayStartMs(zone, calendarDay(day));
  const today = numberOf(clock.nowMs());
  const beginAt = (fromMs: number): number => {
    if (!Number.isFinite(fromMs)) return fromMs;
    const day = numberOf(fromMs);
    const startMs = startOf(day);
    if (startMs === fromMs || day >= today) return fromMs;
    return startOf(day + 1);
  };
  return { sinceMs: startOf(today - LOOK_BACK_DAYS + 1), today, numberOf, startOf, beginAt };
}

export function recentReads(reading: ReadContext, used: PriorUsage) {
  const { ledger, usage, recentJobIds } = reading;
  return {
    readRecords: (jobIds: readonly number[]) => ledger.readRecords(jobIds),
    readCounters: (keys: Parameters<typeof ledger.readCounters>[0]) => ledger.readCounters(keys),
    usedBefore: used.of,
    recentJobIds: async (): Promise<readonly number[]> => {
      const [lists, recent = []] = await Promise.all([usage.readRejections(['instance']), recentJobIds?.()]);
      return [...lists.flatMap(({ jobs }) => jobs.map(({ jobId }) => jobId)), ...recent];
    },
  };
}

export function recentBounds({ monotonicMs = () => performance.now() }: ReadContext) {
  const startedMs = monotonicMs();
  return {
    idsMax: IDS_MAX,
    recordsMax: RECORDS_MAX,
    readDeadlineMs: startedMs + READ_MS,
    replayDeadlineMs: startedMs + ALL_MS,
    monotonicMs,
  };
}

/** The days' totals know of every job; only whole days can be compared. */
async function missedOf(
  subjects: readonly string[],
  { fromMs, untilMs, bySubject }: BacktestComparison,
  { today, numberOf, startOf }: DaysBack,
  { usage }: ReadContext,
): Promise<ReadonlyMap<string, number>> {
  const from = numberOf(fromMs);
  const isWhole = fromMs < untilMs && startOf(from) === fromMs;
  if (!isWhole) return new Map();
  const totals = await readDays(subjects, { from, to: today }, usage);
  return new Map(
    subjects.map((subject) => {
      const counted = (totals.get(subject) ?? []).reduce((sum, { jobs }) => sum + jobs, 0);
      const { jobs, unasked } = bySubject.get(subject) ?? NOTHING;
      return [subject, Math.max(0, counted - jobs - unasked)];
    }),
  );
}
