/** What scripts/cli/cost/measured-costs.json says: counted, never timed, so that any machine counts the same. */
import { COUNTERS_MAX } from '../../../cli/cost/assumptions.ts';
import type { DeskCosts, JobCosts, JobOutcome, JobUnits } from '../../../cli/cost/units.ts';
import { measureJob } from './measure-job.ts';
import { type DeskOptions, sampleDesk } from './sample-desk.ts';
import { measureNoticesRun, measureParameterRun } from './sample-runs.ts';
import { measureVisit } from './sample-visit.ts';

/** The largest are those that `tollgate cost` takes. */
export const BATCHES = [1, 2, 3, 5, 10, 30] as const;
export const TOGETHER = [1, 2, 3, 4, 5, 10, 30, 100, 200] as const;
const GROUPS = [1, 2, 10, 50, 100, 300, 1_000, 3_000, 10_000, 20_000] as const;
const PARAMETERS = [0, 10, 100, 300, 1_000, 3_000] as const;

const SETTLE_BATCH_MAX = 100;
/** How many counters the jobs of the sample count on: what a counter costs is the difference. */
const FEW = 1;
const MORE = 3;

type Sizes = readonly number[];

/** @param batches, together - fewer than all of them make parts of the same lists. */
export async function measureJobCosts(
  outcome: JobOutcome,
  { batches = BATCHES, together = TOGETHER }: { readonly batches?: Sizes; readonly together?: Sizes } = {},
): Promise<Omit<JobCosts, 'byCounters'>> {
  const count = (batch: number, size: number, counters: number): Promise<JobUnits> =>
    measureJob({
      outcome,
      batch,
      settleBatch: Math.min(size, SETTLE_BATCH_MAX),
      rollupBatch: size,
      counters,
    });
  const rows = await inTurn(batches, async (batch) => {
    const few = await count(batch, 1, FEW);
    const each = await inTurn(together, (size) => count(batch, size, MORE));
    return { batch, few, alone: await count(batch, 1, MORE), each };
  });
  const perCounter = (of: (job: JobUnits) => number, { few, alone }: (typeof rows)[number]): number =>
    (of(alone) - of(few)) / (MORE - FEW);
  const holdOf = ({ writeUnits }: JobUnits): number => writeUnits.hold;
  const readsOf = ({ readUnits }: JobUnits): number => readUnits.ledger;
  const settleOf = ({ writeUnits }: JobUnits): number => writeUnits.settle;
  const settleAtNone = (row: (typeof rows)[number]): number =>
    settleOf(row.few) - FEW * perCounter(settleOf, row);
  const list = (of: (row: (typeof rows)[number]) => number): readonly number[] =>
    rows.map((row) => rounded(of(row)));
  const lists = (of: (job: JobUnits, row: (typeof rows)[number]) => number) =>
    rows.map((row) => row.each.map((job) => rounded(of(job, row))));
  const first = rows[0]?.alone;
  const [record, contribution, inbox] = first?.kept ?? [];
  if (first === undefined || record === undefined || contribution === undefined || inbox === undefined)
    throw new Error('a sample job keeps nothing');
  return {
    byBatch: {
      hold: list((row) => holdOf(row.few) - FEW * perCounter(holdOf, row)),
      announced: list(({ alone }) => alone.writeUnits.announced),
      dueIndex: list(({ alone }) => alone.writeUnits.dueIndex),
    },
    byBatchAndTogether: {
      settle: lists((_, row) => settleAtNone(row)),
      ledgerReads: lists((job, row) => readsOf(job) - MORE * perCounter(readsOf, row)),
      rollup: lists(({ writeUnits }) => writeUnits.rollup),
      estimates: lists(({ writeUnits }) => writeUnits.estimates),
      top: lists(({ writeUnits }) => writeUnits.top),
      rollupReads: lists(({ readUnits }) => readUnits.rollup),
    },
    perCounter: {
      hold: list((row) => perCounter(holdOf, row)),
      ledgerReads: list((row) => perCounter(readsOf, row)),
      settle: lists((job, row) => (settleOf(job) - settleAtNone(row)) / MORE),
    },
    inboxWrites: first.writeUnits.inbox,
    estimatesReads: first.readUnits.estimates,
    kept: {
      record: { bytes: record.bytes, days: rounded(record.days) },
      contribution: { bytes: contribution.bytes, days: rounded(contribution.days) },
      inbox: { bytes: inbox.bytes, days: rounded(inbox.days) },
    },
    decisionLineBytes: first.decisionLineBytes,
  };
}

/** A job that comes alone, and counts on ever more. */
export async function measureRecords(
  outcome: JobOutcome,
  countersMax = COUNTERS_MAX,
): Promise<JobCosts['byCounters']> {
  const jobs = await inTurn(
    Array.from({ length: countersMax + 1 }, (_, counters) => counters),
    (counters) => measureJob({ outcome, batch: 1, settleBatch: 1, rollupBatch: 1, counters }),
  );
  return {
    recordBytes: jobs.map(({ kept }) => kept[0]?.bytes ?? 0),
    inHistories: jobs.map(({ writeUnits }) => writeUnits.estimates > 0),
  };
}

export async function measureDeskCosts({
  groups = GROUPS,
  parameters = PARAMETERS,
}: {
  readonly groups?: Sizes;
  readonly parameters?: Sizes;
} = {}): Promise<DeskCosts> {
  const byGroups = await inTurn(groups, async (each) => ({
    groups: each,
    ...(await measureDesk({ groups: each, parameters: 0 })),
  }));
  const groupsMost = Math.max(...parameters, 1);
  const byParameters = await inTurn(parameters, async (each) => ({
    parameters: each,
    ...(await measureDesk({ groups: groupsMost, parameters: each })).parameterRun,
  }));
  const [first] = byGroups;
  if (first === undefined) throw new Error('no sizes to count with');
  return {
    byGroups: byGroups.map(({ groups: each, visit, parameterRun }) => ({
      groups: each,
      visitReads: visit.readUnits,
      visitBytes: visit.answerBytes,
      parameterRunReads: parameterRun.readUnits,
    })),
    byParameters: byParameters.map(({ parameters: each, readUnits }) => ({
      parameters: each,
      reads: readUnits - (byParameters[0]?.readUnits ?? 0),
    })),
    noticesRunReads: first.noticesRun.readUnits,
    visitWrites: first.visit.writeUnits,
    visitRequests: first.visit.requests,
  };
}

/** One after the other: each has the memory to itself. */
async function inTurn<T, R>(all: readonly T[], measure: (each: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  for (const each of all) results.push(await measure(each));
  return results;
}

/** Parts of a unit, without what binary fractions leave over. */
const rounded = (units: number): number => Math.round(units * 1e9) / 1e9;

/** Counts what owning limits costs the table, on the deployed program. */
async function measureDesk(options: DeskOptions) {
  const sample = await sampleDesk(options);
  const visit = await measureVisit(sample);
  const noticesRun = await measureNoticesRun(sample);
  return { visit, noticesRun, parameterRun: await measureParameterRun(sample, options.parameters) };
}
