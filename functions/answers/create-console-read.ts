/** Puts the read models together. Keep one per process: it remembers the limits, the groups, and counters for a minute. */
import type { Ledger } from '../core/ledger/index.ts';
import { backtestOf } from './backtest/backtest-view.ts';
import type { EditComparison } from './backtest/compare-all.ts';
import { editCounts } from './backtest/count-edit.ts';
import { budgetsOf } from './budgets/budgets.ts';
import { ownLimitsOf } from './budgets/own-limits.ts';
import { checkOf } from './check/check-pipeline.ts';
import type { ConsoleReader } from './contract.ts';
import { coverageViewOf } from './coverage/coverage-view.ts';
import { exceptionsOf } from './exceptions/exceptions.ts';
import { viewerEdit, viewerHistory } from './history/viewer-history.ts';
import { limitFiguresOf } from './import/limit-figures.ts';
import { explainJob } from './job/explain-job.ts';
import { meOf } from './me/me.ts';
import { overviewOf } from './overview/overview.ts';
import { previewOf } from './preview/preview-view.ts';
import { countersNow } from './reading/counters-now.ts';
import { limitsNow } from './reading/limits-now.ts';
import { poolsNow } from './reading/pools.ts';
import type { ReadContext, ReadingDeps } from './reading/reading.ts';
import { NOWHERE, scopeOf } from './reading/scope.ts';
import { reconciliationOf } from './reconciliation/reconciliation.ts';
import { spendListOf } from './report/all-groups.ts';
import { spendReportOf } from './report/report.ts';
import { requestRows, waitingOf } from './requests/requests.ts';
import { rolloutForecastOf } from './rollout/rollout-forecast.ts';
import { rolloutOf } from './rollout/rollout-view.ts';
import { shadowViewOf } from './shadow/shadow-view.ts';
import { countedLimitsNow } from './standing/counted-limits.ts';
import { closedMonthsOf, lastStatementsOf, statementNumbersOf } from './statement/closed-months.ts';
import { deployedPricesOf } from './statement/deployed-prices.ts';
import { viewerStatement } from './statement/viewer-statement.ts';
import { subjectViewOf } from './subject/subject-view.ts';
import { usageDaysOf } from './usage/usage-days-view.ts';

export interface ConsoleReadDeps extends ReadingDeps {
  /** Replays the jobs of the last days. @default within a request's bounds */
  readonly compareEdit?: EditComparison;
}

export function createConsoleRead({ compareEdit, ...deps }: ConsoleReadDeps): ConsoleReader {
  const { clock, desk, ledger } = deps;
  const previous = (keys: Parameters<Ledger['readCounters']>[0]) => ledger.readCounters(keys);
  const reading: ReadContext = {
    ...deps,
    counters: countersNow(deps),
    limits: limitsNow({ desk, table: deps.limitTable, packed: deps.packedLimits, previous, clock }),
    pools: poolsNow(clock),
    countedLimits: countedLimitsNow(),
  };
  const scopeFor = async (viewer: Parameters<ConsoleReader['me']>[0]) =>
    scopeOf(viewer.roles, ((await deps.places()) ?? NOWHERE).directory);
  const requests = requestRows(reading);
  const countEdit = editCounts(reading, compareEdit);
  return {
    me: meOf(reading, requests),
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
    statement: viewerStatement(reading),
    closedMonths: closedMonthsOf(reading),
    statementNumbers: statementNumbersOf(reading),
    deployedPrices: deployedPricesOf(reading),
    lastStatements: lastStatementsOf(reading),
    reconciliation: reconciliationOf(reading),
    preview: previewOf(reading),
    backtest: backtestOf(reading, countEdit),
    limitFigures: limitFiguresOf(reading),
    history: async (asked, viewer) => viewerHistory(asked, await scopeFor(viewer), reading),
    edit: async (edit, viewer) => viewerEdit(await desk.edit(edit), await scopeFor(viewer)),
    requests,
    waiting: waitingOf(reading),
    breakGlasses: async (viewer) => {
      const scope = await scopeFor(viewer);
      return (await desk.breakGlasses()).filter(({ subject }) => scope.sees(subject));
    },
    usage: usageDaysOf(reading),
    coverage: coverageViewOf(reading),
    spend: spendReportOf(reading),
    spendList: spendListOf(reading),
    sight: async (viewer) => (await scopeFor(viewer)).sees,
  };
}
