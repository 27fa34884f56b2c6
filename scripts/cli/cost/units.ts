import { type COUNTERS_MAX, PARAMETERS_PER_CALL } from './assumptions.ts';
import costs from './measured-costs.json' with { type: 'json' };

export interface JobBatches {
  /** Jobs of one project that are admitted together. */
  readonly batch: number;
  /** Ends that one call of the settlement gets. */
  readonly settleBatch: number;
  /** Records that one call of the rollup gets. */
  readonly rollupBatch: number;
}

/** Cost of one job in table and log. */
export interface JobUnits {
  readonly writeUnits: Readonly<Record<WriteKind, number>>;
  readonly readUnits: Readonly<Record<ReadKind, number>>;
  /** Each item that is kept, with the days it is kept. */
  readonly kept: readonly { readonly bytes: number; readonly days: number }[];
  /** The relay's line about the decision. */
  readonly decisionLineBytes: number;
}

type WriteKind = 'hold' | 'announced' | 'inbox' | 'settle' | 'dueIndex' | 'rollup' | 'estimates' | 'top';
type ReadKind = 'estimates' | 'ledger' | 'rollup';

/** Exactly what was counted where it was counted; in between, what a share of each batch comes to. */
export function jobUnits(
  outcome: JobOutcome,
  counters: number,
  { batch, settleBatch, rollupBatch }: JobBatches,
  { batches, together, jobs }: MeasuredCosts = MEASURED_COSTS,
): JobUnits {
  const { byBatch, byBatchAndTogether: both, perCounter, byCounters, kept, ...job } = jobs[outcome];
  const admitting = batchPlace(batches, batch);
  const [settling, summing] = [batchPlace(together, settleBatch), batchPlace(together, rollupBatch)];
  /** Records are read once per larger batch. */
  const looking = batchPlace(together, Math.max(settleBatch, rollupBatch));
  // A job that no limit counts cannot be rejected.
  const counted = outcome === 'rejected' ? Math.max(1, counters) : counters;
  const recordBytes = byCounters.recordBytes[counters] ?? kept.record.bytes;
  /** A record is part of a transaction: each started KB beyond the first is two units. */
  const larger = 2 * (Math.ceil(recordBytes / 1024) - 1);
  const isSettled = valueBetween(both.settle, admitting, settling) > 0;
  return {
    writeUnits: {
      hold: valueAt(byBatch.hold, admitting) + counted * valueAt(perCounter.hold, admitting) + larger,
      announced: valueAt(byBatch.announced, admitting),
      inbox: job.inboxWrites,
      settle:
        valueBetween(both.settle, admitting, settling) +
        counted * valueBetween(perCounter.settle, admitting, settling) +
        (isSettled ? larger : 0),
      dueIndex: valueAt(byBatch.dueIndex, admitting),
      rollup: valueBetween(both.rollup, admitting, summing),
      estimates: byCounters.inHistories[counters] ? valueBetween(both.estimates, admitting, summing) : 0,
      top: valueBetween(both.top, admitting, summing),
    },
    readUnits: {
      estimates: job.estimatesReads / batch,
      ledger:
        valueBetween(both.ledgerReads, admitting, looking) +
        counted * valueAt(perCounter.ledgerReads, admitting),
      rollup: valueBetween(both.rollupReads, admitting, summing),
    },
    kept: [{ ...kept.record, bytes: recordBytes }, kept.contribution, kept.inbox],
    decisionLineBytes: job.decisionLineBytes,
  };
}

/** One person who looks at budgets, from the sign-in on. */
export interface VisitUnits {
  readonly readUnits: number;
  readonly writeUnits: number;
  readonly requests: number;
  /** Headers are not in it. */
  readonly answerBytes: number;
}

export interface DeskUnits {
  readonly visit: VisitUnits;
  /** A run of the notices without changes. */
  readonly noticesRun: { readonly readUnits: number };
  /** A scheduled import from Parameter Store when nothing changed. It writes nothing. */
  readonly parameterRun: {
    readonly readUnits: number;
    readonly calls: number;
  };
}

/**
 * @param groups - each with a budget of its own.
 * @param parameters - those in Parameter Store that hold limits.
 */
export function deskUnits(
  { groups, parameters }: { readonly groups: number; readonly parameters: number },
  desk: DeskCosts = MEASURED_COSTS.desk,
): DeskUnits {
  const place = countPlace(
    desk.byGroups.map((row) => row.groups),
    groups,
  );
  const ofGroups = (name: 'visitReads' | 'visitBytes' | 'parameterRunReads'): number =>
    valueAt(
      desk.byGroups.map((row) => row[name]),
      place,
    );
  const ofParameters = valueAt(
    desk.byParameters.map(({ reads }) => reads),
    countPlace(
      desk.byParameters.map((row) => row.parameters),
      parameters,
    ),
  );
  return {
    visit: {
      readUnits: ofGroups('visitReads'),
      writeUnits: desk.visitWrites,
      requests: desk.visitRequests,
      answerBytes: ofGroups('visitBytes'),
    },
    noticesRun: { readUnits: desk.noticesRunReads },
    parameterRun: {
      readUnits: ofGroups('parameterRunReads') + ofParameters,
      calls: Math.max(1, Math.ceil(parameters / PARAMETERS_PER_CALL)),
    },
  };
}

/** Between the `low`-th and the `high`-th value of a list: `share` of the way. */
interface PlaceInList {
  readonly low: number;
  readonly high: number;
  readonly share: number;
}

/** Interpolates a size among ascending ones; beyond the last it extrapolates. */
function placeIn(sizes: readonly number[], size: number, scale: (size: number) => number): PlaceInList {
  const found = sizes.findIndex((each) => each >= size);
  const high = found === -1 ? sizes.length - 1 : found;
  const [below, above] = [sizes[high - 1], sizes[high]];
  if (below === undefined || above === undefined || above === size) return { low: high, high, share: 0 };
  const share = (scale(size) - scale(below)) / (scale(above) - scale(below));
  return { low: high - 1, high, share };
}

/** Shared costs of a batch are divided by its size, so values are linear in the inverse of the size. */
const batchPlace = (batches: readonly number[], batch: number): PlaceInList =>
  placeIn(batches, batch, (size) => 1 / size);

const countPlace = (counts: readonly number[], count: number): PlaceInList =>
  placeIn(counts, count, (size) => size);

function valueAt(values: readonly number[], { low, high, share }: PlaceInList): number {
  const [from, to] = [values[low] ?? Number.NaN, values[high] ?? Number.NaN];
  return share === 0 ? from : from + share * (to - from);
}

const valueBetween = (rows: readonly (readonly number[])[], row: PlaceInList, column: PlaceInList): number =>
  valueAt(
    rows.map((values) => valueAt(values, column)),
    row,
  );

type DeepReadonly<T> = T extends object ? { readonly [Name in keyof T]: DeepReadonly<T[Name]> } : T;

/**
 * Table costs of a job, a visit and a run, counted by the bench on deployed programs: measured-costs.json.
 * `npm run bench -- --only cost` renews it, and a test compares the quick counts. Lists of `byBatch` go by `batches` (jobs
 * admitted together), the lists in `byBatchAndTogether` by `together` (ends of one settlement, records of one rollup), and
 * `byCounters` by the number of limits that a job counts on, from 0 to {@link COUNTERS_MAX}.
 */
export type MeasuredCosts = DeepReadonly<typeof costs>;
export type JobOutcome = keyof MeasuredCosts['jobs'];
/** Units of the table per job. */
export type JobCosts = MeasuredCosts['jobs'][JobOutcome];
/** Table costs of the console and limits. */
export type DeskCosts = MeasuredCosts['desk'];

export const MEASURED_COSTS: MeasuredCosts = costs;
