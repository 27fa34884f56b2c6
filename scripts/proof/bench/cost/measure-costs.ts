/**
 * Counts the costs in scripts/cli/cost/measured-costs.json. They are counted, never timed, so every machine gets the same.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { COUNTERS_MAX } from '../../../cli/cost/assumptions.ts';
import type { DeskCosts, JobCosts, JobOutcome, JobUnits, MeasuredCosts } from '../../../cli/cost/units.ts';
import type { Figure } from '../figure.ts';
import { measureDesk } from './desk-costs.ts';
import { measureJob } from './job-costs.ts';

/** `tollgate cost` interpolates between these sizes. */
const BATCHES = [1, 2, 3, 5, 10, 30] as const;
const TOGETHER = [1, 2, 3, 4, 5, 10, 30, 100, 200] as const;
const GROUPS = [1, 2, 10, 50, 100, 300, 1_000, 3_000, 10_000, 20_000] as const;
const PARAMETERS = [0, 10, 100, 300, 1_000, 3_000] as const;

const SETTLE_BATCH_MAX = 100;
/** Counters of the sample jobs. The difference is the cost of a counter. */
const FEW = 1;
const MORE = 3;

type Sizes = readonly number[];

/** @param batches, together - a test counts only some sizes. */
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

/** Measures jobs that come alone, with a rising number of counters. */
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

/** In sequence, so that each has the memory to itself. */
async function inTurn<T, R>(all: readonly T[], measure: (each: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  for (const each of all) results.push(await measure(each));
  return results;
}

/** Rounds away the error of binary fractions. */
const rounded = (units: number): number => Math.round(units * 1e9) / 1e9;

const FILE = fileURLToPath(new URL('../../../cli/cost/measured-costs.json', import.meta.url));
const FORMATTER = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');

/** Counts all costs, and writes the file if they have changed. */
export async function costFigures(): Promise<readonly Figure[]> {
  const jobCosts = async (outcome: JobOutcome): Promise<JobCosts> => ({
    ...(await measureJobCosts(outcome)),
    byCounters: await measureRecords(outcome),
  });
  const counted = {
    how: 'sample jobs, visits and runs through the programs that are deployed, over tables in memory that count by formula',
    renewedBy: 'npm run bench -- --only cost',
    batches: BATCHES,
    together: TOGETHER,
    jobs: { admitted: await jobCosts('admitted'), rejected: await jobCosts('rejected') },
    desk: await measureDeskCosts(),
  };
  const isChanged = writeIfChanged(counted);
  const { byBatch, byBatchAndTogether: both, perCounter } = counted.jobs.admitted;
  /** As in the README: batches of five on three counters. */
  const [batch, size] = [BATCHES.indexOf(5), TOGETHER.indexOf(5)];
  const value =
    (byBatch.hold[batch] ?? Number.NaN) +
    3 * (perCounter.hold[batch] ?? Number.NaN) +
    (both.settle[batch]?.[size] ?? Number.NaN) +
    3 * (perCounter.settle[batch]?.[size] ?? Number.NaN) +
    (byBatch.dueIndex[batch] ?? Number.NaN);
  return [
    {
      name: 'write units of a job from hold to end, 3 counters, batches of five',
      value,
      must: { atMost: 8.4 },
      unit: 'per job',
      kind: 'count',
      note: isChanged ? `the costs have changed: ${FILE} is new, commit it` : 'unchanged',
    },
  ];
}

function writeIfChanged(counted: Omit<MeasuredCosts, 'countedOn' | 'countedAfter'>): boolean {
  const written = JSON.parse(readFileSync(FILE, 'utf8')) as MeasuredCosts;
  const { countedOn: _on, countedAfter: _after, ...before } = written;
  const { desk } = counted;
  const byGroups = withBytesAsWritten(desk.byGroups, before.desk.byGroups);
  if (isDeepStrictEqual(before, { ...counted, desk: { ...desk, byGroups } })) return false;
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8', timeout: 10_000 });
  const countedOn = new Date().toISOString().slice(0, 10);
  writeFileSync(FILE, JSON.stringify({ countedOn, countedAfter: commit.trim(), ...counted }));
  execFileSync(process.execPath, [FORMATTER, 'format', '--write', FILE], { timeout: 60_000 });
  return true;
}

/** A page that is 5 % larger costs a tenth of a cent more per thousand visits. */
const PAGE_BYTES_OFF_MAX = 0.05;

/** Returns the counted rows with the written bytes where these are about right, so that a word on a page changes no cost. */
export function withBytesAsWritten(
  counted: DeskCosts['byGroups'],
  written: DeskCosts['byGroups'],
): DeskCosts['byGroups'] {
  const bytesOf = new Map(written.map(({ groups, visitBytes }) => [groups, visitBytes]));
  return counted.map((row) => {
    const bytes = bytesOf.get(row.groups) ?? Number.NaN;
    return Math.abs(row.visitBytes / bytes - 1) < PAGE_BYTES_OFF_MAX ? { ...row, visitBytes: bytes } : row;
  });
}
