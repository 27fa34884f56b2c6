/** The expectation of a month: what every question, decision, end, counter and line of usage should be, beside what it is. */
import type { LedgerClock } from '../../../functions/core/environment/index.ts';
import { ExpectedBooks } from './expected/books.ts';
import { type EstimateBasis, RunEstimates } from './expected/run-estimates.ts';
import { ExpectedAnswers } from './expected-answers.ts';
import { ExpectedRecords } from './expected-records.ts';
import { ExpectedWaits } from './expected-waits.ts';
import { Findings } from './findings.ts';
import type { EditionInForce } from './in-force.ts';
import type { SimulatedRun } from './simulated-gitlab.ts';
import { ESTIMATE_DEFAULT_SECONDS } from './workload.ts';

interface Expectation {
  readonly books: ExpectedBooks;
  readonly answers: ExpectedAnswers;
  readonly records: ExpectedRecords;
  readonly waits: ExpectedWaits;
  readonly findings: Findings;
}

interface ExpectationDeps {
  readonly estimate: EstimateBasis;
  readonly inForce: EditionInForce;
  readonly clock: Pick<LedgerClock, 'nowMs'>;
  readonly runOf: (jobId: number) => SimulatedRun | undefined;
}

export function expectationOf({ estimate, inForce, clock, runOf }: ExpectationDeps): Expectation {
  const findings = new Findings();
  const books = new ExpectedBooks();
  const estimates = new RunEstimates(estimate, ESTIMATE_DEFAULT_SECONDS);
  const answers = new ExpectedAnswers({ books, estimates, inForce, findings });
  const askOf: ExpectedAnswers['askOf'] = (job, atMs) => answers.askOf(job, atMs);
  const waits = new ExpectedWaits({ books, inForce, findings, clock, askOf });
  const records = new ExpectedRecords({ books, answers, estimates, runOf, findings, clock });
  return { books, answers, records, waits, findings };
}
