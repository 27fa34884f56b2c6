/** Counts what an edit would have done to the jobs of the last days, for one user, in as many requests as it takes. */
import { createHash, randomUUID } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { calendarDay, dayIn, dayNumber, dayStartMs } from '../../../policies/limits/calendar.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import { createUploads } from '../../core/limits/index.ts';
import { rateLimit } from '../../core/signin/index.ts';
import type { ReadContext } from '../reading/reading.ts';
import { dayText } from '../reading/usage-days.ts';
import type { Viewer } from '../reading/viewer.ts';
import type { EditComparison } from './compare-all.ts';
import { type CompareEdit, type CountState, countJobs } from './count-jobs.ts';
import type { CountedSpan } from './model.ts';

/** Records and limits of a request together take some 100 MB of the function's memory, and a third of a CPU ten seconds. */
const RECORDS_MAX = 20_000;
/** Ids of jobs that never asked cost a read, too. */
const IDS_MAX = 40_000;
/** The function itself has 15 s. */
const WITHIN_MS = 8_000;
/** Each costs up to 40 000 reads: a script left alone must not cost a fortune. */
const OFTEN = { max: 6, windowMs: 60_000 };
/** A count goes on request by request, some seconds each. */
const OFTEN_ON = { max: 60, windowMs: 60_000 };

/** Sums up jobs. Its figures are kept as JSON. */
export interface JobTally<Figures> {
  readonly add: CompareEdit['onJob'];
  readonly figures: () => Figures;
}

interface CountAsked<Figures> {
  readonly viewer: Viewer;
  /** The `next` of the request before. @default begins */
  readonly cursor: string | undefined;
  /** Identifies the edit: a cursor of another edit starts again. */
  readonly about: unknown;
  /** Number of days, up to today. */
  readonly days: number;
  readonly directory: Directory;
  readonly before: LimitSet;
  readonly after: LimitSet;
  /** @param figures - those of the request before. */
  readonly tallyOf: (figures?: Figures) => JobTally<Figures>;
}

interface KeptCount<Figures> {
  readonly about: string;
  readonly untilMs: number;
  readonly state: CountState;
  readonly figures: Figures;
}

type CountAnswer<Figures> =
  | { readonly outcome: 'too_often'; readonly retryAfterSeconds: number }
  | { readonly outcome: 'counted'; readonly span: CountedSpan; readonly figures: Figures };

/** @param compareEdit - reads all that there is in one request. @default as much as a request of a page may read */
export function editCounts(reading: ReadContext, compareEdit?: EditComparison) {
  const { clock, zone, ledger, usage, recentJobIds, monotonicMs = () => performance.now() } = reading;
  const [begun, goneOn] = [rateLimit({ ...OFTEN, clock }), rateLimit({ ...OFTEN_ON, clock })];
  const newId = (): string => randomUUID().replaceAll('-', '');
  const kept = createUploads({ table: reading.limitTable, clock, newId });
  const numberOf = (atMs: number): number => dayNumber(dayIn(zone, atMs));
  const reads = {
    readRecords: (jobIds: readonly number[]) => ledger.readRecords(jobIds),
    recentJobIds: async (): Promise<readonly number[]> => {
      const [lists, recent = []] = await Promise.all([usage.readRejections(['instance']), recentJobIds?.()]);
      return [...lists.flatMap(({ jobs }) => jobs.map(({ jobId }) => jobId)), ...recent];
    },
  };

  return async <Figures>(asked: CountAsked<Figures>): Promise<CountAnswer<Figures>> => {
    const { viewer, cursor, days, directory, before, after, tallyOf } = asked;
    const about = createHash('sha256').update(JSON.stringify(asked.about)).digest('hex');
    const bytes = cursor === undefined ? undefined : await kept.read(viewer.id, cursor);
    const found = bytes && (JSON.parse(gunzipSync(bytes).toString()) as KeptCount<Figures>);
    const from = found?.about === about ? found : undefined;
    const retryAfterSeconds = (from === undefined ? begun : goneOn).take(String(viewer.id));
    if (retryAfterSeconds !== undefined) return { outcome: 'too_often', retryAfterSeconds };
    const untilMs = from?.untilMs ?? clock.nowMs();
    const first = numberOf(untilMs) - days + 1;
    const sinceMs = dayStartMs(zone, calendarDay(first));
    const tally = tallyOf(from?.figures);
    const edit = { sinceMs, untilMs, policy: reading.policy, directory, before, after, onJob: tally.add };
    const bounds = {
      ...{ idsMax: IDS_MAX, recordsMax: RECORDS_MAX, monotonicMs },
      deadlineMs: monotonicMs() + WITHIN_MS,
    };
    const counted = await (compareEdit?.(edit) ?? countJobs({ ...edit, reads, bounds, from: from?.state }));
    const { countedToMs, jobsRead, next: state } = counted;
    const figures = tally.figures();
    const next = state && { about, untilMs, state, figures };
    return {
      outcome: 'counted',
      figures,
      span: {
        days,
        daysCounted: countedToMs === untilMs ? days : numberOf(countedToMs) - first,
        fromMs: sinceMs,
        untilMs: countedToMs,
        fromDay: dayText(first),
        complete: countedToMs === untilMs,
        jobsRead,
        ...(next && { next: await kept.keep(viewer.id, gzipSync(JSON.stringify(next))) }),
      },
    };
  };
}
