import { compareTexts } from '../../../policies/text/plain-text.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import {
  addSum,
  addSumTo,
  emptySum,
  FIGURES,
  type SheetFigure,
  type SheetSum,
  sumWithout,
} from '../../core/sheets/sheet-rows.ts';
import type { JobKey, SheetKind } from '../../core/sheets/sheet-store.ts';
import { QUEUE_BOUNDS_SECONDS, QUEUE_BUCKETS } from '../../core/usage/usage.ts';
import { readSums, type SumReading, type SumSource, sheetRowId, sumSheets } from '../reading/read-sums.ts';
import { type DaySpan, dayText } from '../reading/usage-days.ts';
import type { CandidateRows } from './candidate-rows.ts';
import { JOB_KEY_TEXTS, type SpendFigures, type SpendKey, type SpendReport, type SpendRow } from './model.ts';
import { monthNumber } from './report-period.ts';

interface SpendRequest {
  readonly by: SpendKey;
  readonly subject: string;
  readonly span: DaySpan;
  readonly rows: CandidateRows;
  /** With the figures that came later. */
  readonly later: boolean;
}

export interface SpendSums extends SumReading {
  readonly span: DaySpan;
  /** Micros by the id of the row. Empty for days and months, whose ids are their positions in the period. */
  readonly costs: ReadonlyMap<number, number>;
  readonly rowsOf: (ids: ReadonlySet<number>) => ReadonlyMap<number, SheetSum>;
  readonly total: SheetSum;
}

const MICROS = 0;

const kindOf = (subject: string) => (subject.startsWith('project/') ? 'project' : 'group');

export const readSpend = (request: SpendRequest, source: SumSource): Promise<SpendSums> =>
  request.rows.kind === undefined ? readTimes(request, source) : readRows(request.rows.kind, request, source);

async function readRows(
  kind: SheetKind,
  { subject, span, rows, later }: SpendRequest,
  source: SumSource,
): Promise<SpendSums> {
  const { subjects, named, neverLive, byDay = false } = rows;
  const total = emptySum();
  const own = sheetRowId(subject);
  const ownKind = kindOf(subject);
  const isOwn = ownKind === kind;
  const of = isOwn ? subject : undefined;
  const [read, ofOwn] = await Promise.all([
    sumSheets(
      { ...{ ...span, kind, byDay, later, rows: subjects }, ...withoutAbsent({ of, named, neverLive }) },
      source,
    ),
    isOwn ? undefined : sumSheets({ ...span, kind: ownKind, byDay: false, later, of: subject }, source),
  ]);
  (ofOwn ?? read).each((_, sum) => addSum(total, sum), new Set([own]));
  const costs = new Map<number, number>();
  read.each(
    (id, sum) => {
      if (!isOwn || id !== own) costs.set(id, (costs.get(id) ?? 0) + (sum[MICROS] ?? 0));
    },
    undefined,
    MICROS + 1,
  );
  const rowsOf = (ids: ReadonlySet<number>): ReadonlyMap<number, SheetSum> => {
    const sums = new Map<number, SheetSum>();
    read.each((id, sum) => {
      if (ids.has(id)) addSumTo(sums, id, sum);
    }, ids);
    return sums;
  };
  return { ...read, span, total, costs, rowsOf };
}

/** Days and months are of one subject: its days are read live, its months packed. */
async function readTimes({ by, subject, span, later }: SpendRequest, source: SumSource): Promise<SpendSums> {
  const own = sheetRowId(subject);
  const sums = new Map<number, SheetSum>();
  const total = emptySum();
  const { usage, today } = source;
  const first = monthNumber(span.from);
  const read = await readSums(
    { ...span, kind: kindOf(subject), byDay: false, later, of: subject },
    by === 'day' ? { usage, today } : source,
    (id, sum, day) => {
      if (id !== own) return;
      addSumTo(sums, by === 'day' ? day - span.from : monthNumber(day) - first, sum);
      addSum(total, sum);
    },
  );
  return { ...read, span, total, costs: new Map(), rowsOf: () => sums };
}

function timesOf(by: SpendKey, { from, to }: DaySpan): readonly string[] {
  const days = Array.from({ length: to - from + 1 }, (_, index) => dayText(from + index));
  return by === 'day' ? days : [...new Set(days.map((day) => day.slice(0, 7)))];
}

export function listedRows(
  { by, subject, rows, top }: Pick<SpendRequest, 'by' | 'subject' | 'rows'> & { readonly top: number },
  now: SpendSums,
  then: SpendSums | undefined,
): Pick<SpendReport, 'rows' | 'other' | 'total' | 'queue'> {
  const times = rows.kind === undefined ? timesOf(by, now.span) : undefined;
  const ids = times?.map((_, place) => place) ?? placeIds(rows, now, then);
  const shownIds = times !== undefined || rows.inOrder ? ids : ids.slice(0, top);
  const [sums, before] = [now.rowsOf(new Set(shownIds)), then?.rowsOf(new Set(shownIds))];
  const shown = shownIds.map((id) => ({
    name: times?.[id] ?? rows.nameOf(id),
    of: rows.subjectOf?.(id),
    sum: sums.get(id) ?? emptySum(),
    before: before?.get(id) ?? emptySum(),
  }));
  const withBefore = (sum: SheetSum) => {
    const { micros, jobs, seconds } = figuresOf(sum);
    return then === undefined ? {} : { before: { micros, jobs, seconds } };
  };
  const totalThen = then?.total ?? emptySum();
  const sumsShown = (part: 'sum' | 'before') => shown.map((row) => row[part]);
  const hidden = ids.length - shown.length;
  return {
    rows: shown.map(
      ({ name, of, sum, before }): SpendRow => ({
        ...{ name, ...withoutAbsent({ subject: of }), ...figuresOf(sum), ...withBefore(before) },
      }),
    ),
    other: {
      ...{ rows: hidden, label: otherLabel(by, subject, hidden) },
      ...figuresOf(sumWithout(now.total, sumsShown('sum'))),
      ...withBefore(sumWithout(totalThen, sumsShown('before'))),
    },
    total: { ...figuresOf(now.total), ...withBefore(totalThen) },
    queue: queueOf(now.total),
  };
}

const PLACES = new Map(FIGURES.map((figure, place) => [figure, place]));

export function figuresOf(sum: SheetSum): SpendFigures {
  const of = (figure: SheetFigure): number => sum[PLACES.get(figure) ?? 0] ?? 0;
  return {
    micros: of('settledMicros'),
    heldMicros: of('heldMicros'),
    jobs: of('jobs'),
    seconds: of('milliseconds') / 1000,
    rejected: of('rejected'),
    ranRejected: of('ranRejected'),
    neverRan: of('released'),
    endUnknown: of('expired'),
    unmetered: of('unmetered'),
    bypass: of('bypass'),
    exempt: of('exempt'),
    estimated: of('estimated'),
    overEstimate: of('overEstimate'),
    ran: of('jobs') - of('rejected') + of('ranRejected') - of('released'),
    retriesKnown: of('firstRuns') + of('retries'),
    retries: of('retries'),
    retryMicros: of('retryMicros'),
    queuedKnown: QUEUE_BUCKETS.reduce((jobs, bucket) => jobs + of(bucket), 0),
    queuedSeconds: of('queuedSeconds'),
  };
}

const queueOf = (sum: SheetSum): SpendReport['queue'] =>
  QUEUE_BUCKETS.map((bucket, index) => {
    const toSeconds = QUEUE_BOUNDS_SECONDS[index] ?? Infinity;
    return { ...(Number.isFinite(toSeconds) && { toSeconds }), jobs: sum[PLACES.get(bucket) ?? 0] ?? 0 };
  });

function placeIds(
  { inOrder, nameOf }: CandidateRows,
  now: SpendSums,
  then: SpendSums | undefined,
): readonly number[] {
  const ids = [...new Set([...now.costs.keys(), ...(then?.costs.keys() ?? [])])];
  if (inOrder) return ids.sort((a, b) => a - b);
  const of = (sums: SpendSums | undefined, id: number): number => sums?.costs.get(id) ?? 0;
  return ids.sort(
    (a, b) => of(now, b) - of(now, a) || of(then, b) - of(then, a) || compareTexts(nameOf(a), nameOf(b)),
  );
}

function otherLabel(by: SpendKey, subject: string, hidden: number): string {
  const isAll = subject === 'instance';
  const rest = {
    group: isAll ? 'jobs of no group that is listed' : 'projects right in this group',
    project: 'jobs of no project that is known here',
    class: isAll ? 'classes the policy has no more' : 'jobs not split by runner class',
    ...{ day: 'on no day of this period', month: 'on no day of this period' },
  };
  const text =
    by in rest ? rest[by as keyof typeof rest] : `jobs not split by ${JOB_KEY_TEXTS[by as JobKey]}`;
  return hidden === 0 ? `${text.charAt(0).toUpperCase()}${text.slice(1)}` : `${hidden} more, and ${text}`;
}
