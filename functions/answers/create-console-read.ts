/**
 * The answers of the console's pages and API. All are limited to the caller's groups and everything below; other subjects
 * look as if they did not exist.
 *
 * Amounts are whole units of `unit` (`micros` are millionths of the currency), instants Unix ms, days `2026-11-21`. Every
 * method throws `LimitsError`, `LedgerError` or `DirectoryError` if the table does not answer; retry later.
 */
import { backtestOf, type EditComparison, editCounts } from './backtest/count-edit.ts';
import { coverageViewOf } from './groups/coverage.ts';
import { overviewOf } from './groups/group-rows.ts';
import { meOf } from './groups/me.ts';
import { subjectViewOf } from './groups/subject.ts';
import { usageDaysOf } from './groups/usage.ts';
import { checkOf } from './job/check-pipeline.ts';
import { explainJob } from './job/explain-job.ts';
import { budgetsOf, reconciliationOf } from './limits/budgets.ts';
import { editsOf, exceptionsOf, ownLimitsOf, previewOf, requestRows, waitingOf } from './limits/edits.ts';
import { limitFiguresOf } from './limits/limit-figures.ts';
import type { ReadContext, ReadingDeps } from './reading/context.ts';
import { countersNow } from './reading/counters-now.ts';
import { limitsNow } from './reading/limits-now.ts';
import { spendListOf, spendReportOf } from './report/report.ts';
import { rolloutForecastOf, rolloutOf } from './rollout/rollout.ts';
import { shadowViewOf } from './rollout/shadow.ts';
import { closedMonthsOf, deployedPricesOf, statementNumbersOf } from './statement/closed-months.ts';
import { statementOf } from './statement/statement.ts';

export interface ConsoleReadDeps extends ReadingDeps {
  /** Replays the jobs of the last days. @default within the bounds of a request */
  readonly compareEdit?: EditComparison;
}

export type ConsoleReader = ReturnType<typeof createConsoleRead>;

/** Keep one per process: it caches limits, groups and counters. */
export function createConsoleRead({ compareEdit, ...deps }: ConsoleReadDeps) {
  const reading: ReadContext = {
    ...deps,
    counters: countersNow(deps),
    limits: limitsNow(deps, (keys) => deps.ledger.readCounters(keys)),
  };
  const waiting = waitingOf(reading);
  const countEdit = editCounts(reading, compareEdit);
  return {
    ...editsOf(reading),
    me: meOf(reading, waiting),
    overview: overviewOf(reading),
    subject: subjectViewOf(reading),
    budgets: budgetsOf(reading),
    ownLimits: ownLimitsOf(reading),
    exceptions: exceptionsOf(reading),
    job: explainJob(reading),
    check: checkOf(reading),
    shadow: shadowViewOf(reading),
    rollout: rolloutOf(reading),
    rolloutForecast: rolloutForecastOf(reading, countEdit),
    statement: statementOf(reading),
    closedMonths: closedMonthsOf(reading),
    statementNumbers: statementNumbersOf(reading),
    deployedPrices: deployedPricesOf(reading),
    reconciliation: reconciliationOf(reading),
    preview: previewOf(reading),
    backtest: backtestOf(reading, countEdit),
    limitFigures: limitFiguresOf(reading),
    requests: requestRows(reading),
    waiting,
    usage: usageDaysOf(reading),
    coverage: coverageViewOf(reading),
    spend: spendReportOf(reading),
    spendList: spendListOf(reading),
  };
}
