/** Counts the effect of an edit on the jobs of the last days, for one user, in as many requests as it takes. */
import { createHash, randomUUID } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { calendarDay, dayIn, dayNumber, dayStartMs } from '../../../policies/limits/calendar.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { JobRecord } from '../../core/ledger/ledger.ts';
import type { LedgerStore } from '../../core/ledger/store.ts';
import type { LimitEdit } from '../../core/limits/edit-model.ts';
import { createUploads } from '../../core/limits/limit-table.ts';
import { rateLimit } from '../../core/signin/require-user.ts';
import { previewEdits } from '../limits/edits.ts';
import type { BacktestAnswer, BacktestCounts } from '../limits/models.ts';
import type { Caller, CallerView, ReadContext } from '../reading/context.ts';
import { formatSubjectLabel } from '../reading/scope.ts';
import { dayText } from '../reading/usage-days.ts';
import { type CompareEdit, type Counted, type CountState, comparedReplays, countJobs } from './count-jobs.ts';
import type { ReplayedJob } from './replay.ts';
import { JobSubjects } from './replay-requests.ts';
import { jobsInOrder, jobsThatMatter } from './replayed-jobs.ts';

/** Records and limits of a request take some 100 MB of the function's memory, and a third of a CPU for ten seconds. */
const RECORDS_MAX = 20_000;
/** Ids without a record cost a read as well. */
const IDS_MAX = 40_000;
const WITHIN_MS = 8_000;
/** Each costs up to 40 000 reads: bounds the cost of a forgotten script. */
const NEW_COUNTS = { max: 6, windowMs: 60_000 };
/** A count continues request by request, some seconds each. */
const CONTINUED_COUNTS = { max: 60, windowMs: 60_000 };

export interface JobTally<Figures> {
  readonly add: CompareEdit['onJob'];
  readonly figures: () => Figures;
}

interface EditCount<Figures> {
  readonly caller: Caller;
  /** `next` of the previous answer. @default starts */
  readonly cursor: string | undefined;
  /** Identifies the edit: a cursor of another edit starts again. */
  readonly about: unknown;
  readonly days: number;
  readonly view: CallerView;
  readonly after: LimitSet;
  readonly tallyOf: (figures?: Figures) => JobTally<Figures>;
}

interface SavedCount<Figures> {
  readonly about: string;
  readonly untilMs: number;
  readonly state: CountState;
  readonly figures: Figures;
}

export type EditComparison = (edit: CompareEdit) => Promise<Counted>;

/** @param compareEdit - reads all records in one request. @default within the bounds of a page's request */
export function editCounts(reading: ReadContext, compareEdit?: EditComparison) {
  const { clock, zone, ledger, usage, recentJobIds, monotonicMs = () => performance.now() } = reading;
  const started = rateLimit({ ...NEW_COUNTS, clock });
  const continued = rateLimit({ ...CONTINUED_COUNTS, clock });
  const newId = (): string => randomUUID().replaceAll('-', '');
  const saved = createUploads({ table: reading.limitTable, clock, newId });
  const numberOf = (atMs: number): number => dayNumber(dayIn(zone, atMs));
  const reads = {
    readRecords: (jobIds: readonly number[]) => ledger.readRecords(jobIds),
    recentJobIds: async () => {
      const [lists, recent = []] = await Promise.all([usage.readRejections(['instance']), recentJobIds?.()]);
      return [...lists.flatMap(({ jobs }) => jobs.map(({ jobId }) => jobId)), ...recent];
    },
  };

  return async <Figures>(request: EditCount<Figures>) => {
    const { caller, cursor, days, view, after } = request;
    const about = createHash('sha256').update(JSON.stringify(request.about)).digest('hex');
    const bytes = cursor === undefined ? undefined : await saved.read(caller.id, cursor);
    const found = bytes && (JSON.parse(gunzipSync(bytes).toString()) as SavedCount<Figures>);
    const from = found?.about === about ? found : undefined;
    const retryAfterSeconds = (from === undefined ? started : continued).take(String(caller.id));
    if (retryAfterSeconds !== undefined) return { outcome: 'too_often' as const, retryAfterSeconds };
    const untilMs = from?.untilMs ?? clock.nowMs();
    const first = numberOf(untilMs) - days + 1;
    const sinceMs = dayStartMs(zone, calendarDay(first));
    const tally = request.tallyOf(from?.figures);
    const edit = {
      ...{ sinceMs, untilMs, policy: reading.policy, directory: view.directory },
      ...{ before: view.limits, after, onJob: tally.add },
    };
    const bounds = {
      ...{ idsMax: IDS_MAX, recordsMax: RECORDS_MAX, monotonicMs },
      deadlineMs: monotonicMs() + WITHIN_MS,
    };
    const counted = await (compareEdit?.(edit) ?? countJobs({ ...edit, reads, bounds, from: from?.state }));
    const { countedToMs, jobsRead, next: state } = counted;
    const figures = tally.figures();
    const next = state && { about, untilMs, state, figures };
    const complete = countedToMs === untilMs;
    return {
      outcome: 'counted' as const,
      figures,
      span: {
        ...{ days, fromMs: sinceMs, untilMs: countedToMs, fromDay: dayText(first), complete, jobsRead },
        daysCounted: complete ? days : numberOf(countedToMs) - first,
        ...(next && { next: await saved.keep(caller.id, gzipSync(JSON.stringify(next))) }),
      },
    };
  };
}

/** Replays every record, for programs that may read the whole table. Reads it twice, and writes nothing. */
export const compareAll =
  (store: LedgerStore): EditComparison =>
  async (edit) => {
    const replays = comparedReplays(edit);
    let jobsRead = 0;
    for await (const record of jobsInOrder(store, jobsThatMatter(edit, edit.before, edit.after))) {
      jobsRead += 1;
      replays.next(record);
    }
    return { countedToMs: edit.untilMs, jobsRead };
  };

const LOOK_BACK_DAYS = 30;
const SUBJECTS_SHOWN = 20;

/** Replays the jobs of the last days under edited limits, job by job, within the bounds of a request. Writes nothing. */
export const backtestOf =
  (reading: ReadContext, countEdit: ReturnType<typeof editCounts>) =>
  async (
    edits: readonly LimitEdit[],
    base: string | undefined,
    caller: Caller,
    cursor?: string,
  ): Promise<BacktestAnswer> => {
    const judged = await previewEdits(edits, base, caller, reading);
    if (judged.outcome !== 'valid') return judged;
    const { preview, view } = judged;
    const edited = [...new Set(preview.rows.map(({ subject }) => subject))];
    const subjects = new JobSubjects(edited, view.directory);
    const counted = await countEdit<ComparedJobs>({
      ...{ caller, cursor, about: [view.set, edits], days: LOOK_BACK_DAYS, view, after: preview.limits },
      tallyOf: (figures) => comparisonTally(subjects, figures),
    });
    if (counted.outcome === 'too_often') return counted;
    const { all, bySubject } = counted.figures;
    return {
      outcome: 'counted',
      set: view.set,
      ...counted.span,
      all,
      subjects: edited.slice(0, SUBJECTS_SHOWN).map((subject) => ({
        ...{ subject, path: formatSubjectLabel(subject, view.directory) },
        ...(bySubject[subject] ?? NO_JOBS),
      })),
    };
  };

export interface ComparedJobs {
  readonly all: BacktestCounts;
  readonly bySubject: Readonly<Record<string, BacktestCounts>>;
}

const NO_JOBS: BacktestCounts = { jobs: 0, wouldFail: 0, wouldFailNow: 0, failed: 0, unasked: 0 };

export function comparisonTally(
  subjects: JobSubjects,
  from: ComparedJobs = { all: NO_JOBS, bySubject: {} },
): JobTally<ComparedJobs> {
  let { all } = from;
  const bySubject = new Map(Object.entries(from.bySubject));
  return {
    add: (record: JobRecord, asIs, edited) => {
      const of = subjects.of(record);
      if (of.length > 0) all = withJob(all, asIs, edited);
      for (const subject of of)
        bySubject.set(subject, withJob(bySubject.get(subject) ?? NO_JOBS, asIs, edited));
    },
    figures: () => ({ all, bySubject: Object.fromEntries(bySubject) }),
  };
}

function withJob(counts: BacktestCounts, asIs?: ReplayedJob, edited?: ReplayedJob): BacktestCounts {
  if (asIs === undefined || edited === undefined) return { ...counts, unasked: counts.unasked + 1 };
  const { jobs, wouldFail, wouldFailNow, failed, wouldWait = 0 } = counts;
  return {
    ...counts,
    jobs: jobs + 1,
    wouldFail: wouldFail + Number(edited.now?.state === 'REJECTED'),
    wouldFailNow: wouldFailNow + Number(asIs.now?.state === 'REJECTED'),
    failed: failed + Number(asIs.rejectedThen),
    ...(edited.waitedMs !== undefined && { wouldWait: wouldWait + 1 }),
  };
}
