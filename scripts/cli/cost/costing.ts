import type { DeploymentShape } from './assumptions.ts';
import * as assumed from './assumptions.ts';
import { alwaysLines, type CostLine, deskLines, jobLines, lineSum } from './lines.ts';
import { PRICES, type Prices, type Region } from './prices.ts';
import { deskUnits, type JobBatches, type JobOutcome, jobUnits } from './units.ts';

export interface CostQuestion extends JobBatches {
  readonly jobsPerMonth: number;
  readonly counters: number;
  /** 0 to 1. */
  readonly rejectedShare: number;
  readonly region: Region;
  readonly shape: DeploymentShape;
  /** Groups with a budget. */
  readonly groups: number;
  /** Groups whose limits are in Parameter Store. */
  readonly parameters: number;
  /** To the console, a month. */
  readonly visits: number;
}

export interface Costing {
  readonly prices: Prices;
  /** Quantities of a month. */
  readonly always: readonly CostLine[];
  /** Quantities of a month; none without a console. */
  readonly desk: readonly CostLine[];
  /** Quantities per admission: rejected and admitted ones by their share. */
  readonly perJob: readonly CostLine[];
  /** US dollars. */
  readonly idlePerMonth: number;
  /** Visits to the console. */
  readonly deskPerMonth: number;
  /** Asking, holding, settling, and the log of it. */
  readonly admissionsPerMillion: number;
  /** That, and usage, estimates, what is kept and its recount. */
  readonly allPerMillion: number;
  readonly perMonth: number;
}

const MILLION = 1_000_000;

/** An admitted job's record is written at its hold and at its end. */
const RECORDS: Readonly<Record<JobOutcome, number>> = { admitted: 2, rejected: 1 };
/** So many of these writes move counters. */
const MOVES: Readonly<Record<JobOutcome, number>> = { admitted: 2, rejected: 0 };

export function costing(question: CostQuestion): Costing {
  const { jobsPerMonth, counters, rejectedShare, region, shape } = question;
  const prices: Prices = PRICES[region];
  const linesOf = (outcome: JobOutcome): readonly CostLine[] =>
    jobLines(
      { ...jobUnits(outcome, counters, question), records: RECORDS[outcome], moves: MOVES[outcome] },
      question,
    );
  const perJob = mixed(linesOf('admitted'), linesOf('rejected'), rejectedShare);
  const ofDesk = deskUnits(question);
  const always = alwaysLines(shape, ofDesk);
  const desk = shape.console ? deskLines(ofDesk.visit, question.visits, shape) : [];
  const deskPerMonth = lineSum(desk, prices);
  const idlePerMonth = lineSum(always, prices);
  const each = lineSum(perJob, prices);
  return {
    prices,
    always,
    desk,
    perJob,
    idlePerMonth,
    deskPerMonth,
    admissionsPerMillion:
      lineSum(
        perJob.filter(({ part }) => part === 'admission'),
        prices,
      ) * MILLION,
    allPerMillion: each * MILLION,
    perMonth: idlePerMonth + deskPerMonth + each * jobsPerMonth,
  };
}

const mixed = (
  admitted: readonly CostLine[],
  rejected: readonly CostLine[],
  share: number,
): readonly CostLine[] =>
  admitted.map((line, index) => ({
    ...line,
    quantity: line.quantity * (1 - share) + (rejected[index]?.quantity ?? 0) * share,
  }));

const BATCH_MAX = 96;
const SETTLE_BATCH_MAX = 100;
const ROLLUP_BATCH_MAX = 200;

/**
 * Estimates batch sizes by the number of jobs: jobs of a small installation come one by one, each with its
 * own transaction. Jobs of one pipeline make larger batches than this.
 *
 * @param relays - each has its own batches.
 */
export function expectedBatches(jobsPerMonth: number, relays: number): JobBatches {
  const perSecond = jobsPerMonth / (assumed.BUSY_HOURS_PER_MONTH * 3_600);
  /** The first job of a batch, and those before it closes. */
  const together = (rate: number, seconds: number, max: number): number =>
    Math.min(max, Math.max(1, Math.round(1 + rate * seconds)));
  const perShard = perSecond / assumed.STREAM_SHARDS;
  return {
    batch: together(perSecond / relays, assumed.CALL_SECONDS, BATCH_MAX),
    settleBatch: together(perShard, assumed.SETTLE_WINDOW_SECONDS, SETTLE_BATCH_MAX),
    // Its hold and its end: two records of a job.
    rollupBatch: together(2 * perShard, assumed.ROLLUP_WINDOW_SECONDS, ROLLUP_BATCH_MAX),
  };
}
