import { alwaysLines } from './always-lines.ts';
import { deskLines } from './desk-lines.ts';
import { deskUnits } from './desk-units.ts';
import { jobLines } from './job-lines.ts';
import { type JobBatches, jobUnits } from './job-units.ts';
import { type CostLine, lineSum } from './line.ts';
import type { JobOutcome } from './measured-costs.ts';
import { PRICES, type Prices, type Region } from './prices.ts';
import type { DeploymentShape } from './shape.ts';

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
