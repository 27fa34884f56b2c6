/** Sums → the rows people read: the most expensive ones, and one row for the others. */
import { compareTexts } from '../../../policies/text/plain-text.ts';
import { emptySum, FIGURES, type SheetFigure, type SheetSum, sumWithout } from '../../core/sheets/index.ts';
import { QUEUE_BOUNDS_SECONDS, QUEUE_BUCKETS } from '../../core/usage/index.ts';
import type { CandidateRows } from './candidate-rows.ts';
import { JOB_KEY_TEXTS, type SpendFigures, type SpendKey, type SpendReport, type SpendRow } from './model.ts';
import { type SpendSums, timesOf } from './read-spend.ts';

interface ListAsk {
  readonly by: SpendKey;
  readonly subject: string;
  readonly rows: CandidateRows;
  readonly top: number;
}

interface FiguredRow {
  readonly name: string;
  readonly subject?: string;
  readonly sum: SheetSum;
  readonly before: SheetSum;
  readonly trend: Iterable<number>;
}

/** @param then - of the period before; absent: it was not asked for */
export function listedRows(
  { by, subject, rows, top }: ListAsk,
  now: SpendSums,
  then: SpendSums | undefined,
): Pick<SpendReport, 'rows' | 'other' | 'total' | 'queue'> {
  const isTime = rows.kind === undefined;
  const ids = isTime ? timesOf(by, now.span).map((_, place) => place) : placeIds(rows, now, then);
  const shownIds = isTime || rows.inOrder ? ids : ids.slice(0, top);
  const shown = isTime ? timeRows(by, now, then) : placeRows(shownIds, rows, now, then);
  const withBefore = (before: SheetSum) =>
    then === undefined ? {} : { before: beforeOf(figuresOf(before)) };
  const other = sumWithout(
    now.total,
    shown.map(({ sum }) => sum),
  );
  const otherBefore = sumWithout(
    then?.total ?? emptySum(),
    shown.map(({ before }) => before),
  );
  const hidden = ids.length - shown.length;
  return {
    rows: shown.map(
      ({ name, subject: of, sum, before, trend }): SpendRow => ({
        name,
        ...(of !== undefined && { subject: of }),
        ...figuresOf(sum),
        ...withBefore(before),
        trend: [...trend],
      }),
    ),
    other: {
      ...{ rows: hidden, label: otherLabel(by, subject, hidden) },
      ...figuresOf(other),
      ...withBefore(otherBefore),
    },
    total: { ...figuresOf(now.total), ...withBefore(then?.total ?? emptySum()) },
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
    const [toSeconds, jobs] = [QUEUE_BOUNDS_SECONDS[index], sum[PLACES.get(bucket) ?? 0] ?? 0];
    return toSeconds !== undefined && Number.isFinite(toSeconds) ? { toSeconds, jobs } : { jobs };
  });

const beforeOf = ({ micros, jobs, seconds }: SpendFigures) => ({ micros, jobs, seconds });

function timeRows(by: SpendKey, now: SpendSums, then: SpendSums | undefined): FiguredRow[] {
  const none = new Set<number>();
  const [sums, before] = [now.rowsOf(none), then?.rowsOf(none)];
  return timesOf(by, now.span).map((name, place) => ({
    name,
    sum: sums.get(place)?.sum ?? emptySum(),
    before: before?.get(place)?.sum ?? emptySum(),
    trend: [],
  }));
}

/** Most expensive first, times in their order. What cost nothing and had no job in both periods is no row. */
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

function placeRows(
  ids: readonly number[],
  { nameOf, subjectOf }: CandidateRows,
  now: SpendSums,
  then: SpendSums | undefined,
): FiguredRow[] {
  const shown = new Set(ids);
  const [sums, before] = [now.rowsOf(shown), then?.rowsOf(shown)];
  return ids.map((id) => {
    const subject = subjectOf(id);
    return {
      name: nameOf(id),
      ...(subject !== undefined && { subject }),
      sum: sums.get(id)?.sum ?? emptySum(),
      before: before?.get(id)?.sum ?? emptySum(),
      trend: sums.get(id)?.trend ?? [],
    };
  });
}

function otherLabel(by: SpendKey, subject: string, hidden: number): string {
  const isAll = subject === 'instance';
  switch (by) {
    case 'group': {
      const rest = isAll ? 'jobs of no group that is listed' : 'projects right in this group';
      return hidden === 0 ? capital(rest) : `${more(hidden, 'group')}, and ${rest}`;
    }
    case 'project': {
      const rest = 'jobs of no project that is known here';
      return hidden === 0 ? capital(rest) : `${more(hidden, 'project')}, and ${rest}`;
    }
    case 'class':
      if (!isAll) return notToldApart('runner class', hidden);
      return hidden === 0
        ? 'Classes the policy has no more'
        : `${hidden} more ${hidden === 1 ? 'class' : 'classes'}`;
    case 'branch':
    case 'job':
    case 'source':
    case 'merge-request':
    case 'outcome':
    case 'schedule':
    case 'hour':
    case 'user':
      return notToldApart(JOB_KEY_TEXTS[by], hidden);
    case 'day':
    case 'month':
      return 'On no day of this period';
  }
}

function notToldApart(key: string, hidden: number): string {
  const rest = `jobs not told apart by ${key}`;
  return hidden === 0 ? capital(rest) : `${hidden} more, and ${rest}`;
}

const more = (count: number, one: string): string => `${count} more ${one}${count === 1 ? '' : 's'}`;

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
