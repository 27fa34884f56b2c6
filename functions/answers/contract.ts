/**
 * Answers for the console's pages and API. Each has its own folder, with its shape in model.ts. All are
 * limited to the viewer's groups and everything below; the rest looks as if it did not exist.
 *
 * Amounts are whole units of `unit` (`micros` are millionths of the deployment's currency), instants Unix
 * ms, days `2026-11-21`. Subjects are texts as in functions/core/limits/desk/contract.ts.
 */

import type { LimitSet } from '../../policies/limits/limits.ts';
import type {
  BreakGlassState,
  HistoryPage,
  HistoryQuery,
  LimitEdit,
  LimitFigures,
  LogEntry,
} from '../core/limits/index.ts';
import type { BacktestAnswer } from './backtest/model.ts';
import type { Budgets, BudgetsQuery, OwnLimit } from './budgets/model.ts';
import type { AskedPipeline, PipelineAnswer } from './check/model.ts';
import type { CoverageQuery, CoverageView } from './coverage/model.ts';
import type { ExceptionRow } from './exceptions/model.ts';
import type { JobAnswer } from './job/model.ts';
import type { MeAnswer } from './me/model.ts';
import type { Overview, OverviewQuery } from './overview/model.ts';
import type { PreviewAnswer } from './preview/model.ts';
import type { Viewer } from './reading/viewer.ts';
import type { Reconciliation } from './reconciliation/model.ts';
import type { SpendAnswer, SpendListAnswer, SpendQuery } from './report/model.ts';
import type { RequestRow } from './requests/model.ts';
import type { RolloutForecastAnswer, RolloutQuery, RolloutView } from './rollout/model.ts';
import type { ShadowQuery, ShadowView } from './shadow/model.ts';
import type { ClosedMonths, StatementNumbers } from './statement/closed-model.ts';
import type { StatementAnswer, StatementQuery } from './statement/model.ts';
import type { DeployedPrices } from './statement/price-model.ts';
import type { SubjectQuery, SubjectView } from './subject/model.ts';
import type { UsageDaysView, UsageQuery } from './usage/model.ts';

/** Every method throws `LimitsError`, `LedgerError` or `DirectoryError` where the table gives no answer; retry later. */
export interface ConsoleReader {
  me(viewer: Viewer): Promise<MeAnswer>;
  overview(asked: OverviewQuery, viewer: Viewer): Promise<Overview>;
  /** Undefined: there is no such subject, or it is not theirs to see. */
  subject(subject: string, asked: SubjectQuery, viewer: Viewer): Promise<SubjectView | undefined>;
  /** Every limit in force that is theirs to see, and how it stands. */
  budgets(asked: BudgetsQuery, viewer: Viewer): Promise<Budgets>;
  /** Limits written on a subject itself, in force or not; empty if it is not visible. */
  ownLimits(subject: string, viewer: Viewer): Promise<readonly OwnLimit[]>;
  /** Exceptions to the limits of a subject, or to all visible ones. */
  exceptions(subject: string | undefined, viewer: Viewer): Promise<readonly ExceptionRow[]>;
  /** @param word - a job id, a decision id `d-4711-1`, or the address of a job's page. */
  job(word: string, viewer: Viewer): Promise<JobAnswer>;
  /** Decisions about a pipeline's jobs now, and remaining amounts of their limits. Writes nothing. */
  check(asked: AskedPipeline, viewer: Viewer): Promise<PipelineAnswer>;
  shadow(asked: ShadowQuery, viewer: Viewer): Promise<ShadowView>;
  /** Rollout steps of groups, and requirements of the next. */
  rollout(asked: RolloutQuery, viewer: Viewer): Promise<RolloutView>;
  /** Which jobs of the last days would have failed, were these enforced. Writes nothing. */
  rolloutForecast(
    subjects: readonly string[],
    viewer: Viewer,
    cursor?: string,
  ): Promise<RolloutForecastAnswer>;
  /** A group's statement of a month. */
  statement(asked: StatementQuery, viewer: Viewer): Promise<StatementAnswer>;
  /** The closed months of a group of the viewer's. Undefined: there is no such group, or it is not theirs to see. */
  closedMonths(group: string, viewer: Viewer): Promise<ClosedMonths | undefined>;
  /** Numbers of all closed statements. Undefined: months are not closed here. */
  statementNumbers(from: number): Promise<StatementNumbers | undefined>;
  /** Price list versions of a span. Undefined: prices are not stored here. */
  deployedPrices(fromMs: number, untilMs: number): Promise<DeployedPrices | undefined>;
  /** The latest statements, newest first. Empty: none was closed yet. */
  lastStatements(atMost: number): Promise<StatementNumbers['numbers']>;
  /** Result of the last comparison of counters and statements, for visible groups. */
  reconciliation(viewer: Viewer): Promise<Reconciliation>;
  /** The effect of edits, for their confirmation page. Writes nothing. */
  preview(edits: readonly LimitEdit[], base: string | undefined, viewer: Viewer): Promise<PreviewAnswer>;
  /** Which jobs of the last days edits would have failed, job by job, within what a request may take. Writes nothing. */
  /** @param cursor - the `next` of an answer. @default begins */
  backtest(
    edits: readonly LimitEdit[],
    base: string | undefined,
    viewer: Viewer,
    cursor?: string,
  ): Promise<BacktestAnswer>;
  /** The last year's use and the forecast of limits of groups, projects and runner classes, by their `entryKey`. */
  limitFigures(limits: LimitSet): Promise<ReadonlyMap<string, LimitFigures>>;
  /** Newest first; rows of subjects outside are left out, `count` with them. */
  history(asked: HistoryQuery, viewer: Viewer): Promise<HistoryPage>;
  /** One edit with every row that is theirs to see. Undefined: there is none, or nothing of it is theirs. */
  edit(edit: number, viewer: Viewer): Promise<LogEntry | undefined>;
  /** Newest first; those the viewer filed, and those of their groups. */
  requests(viewer: Viewer): Promise<readonly RequestRow[]>;
  /** Number of requests that the viewer may decide. */
  waiting(viewer: Viewer): Promise<number>;
  breakGlasses(viewer: Viewer): Promise<readonly BreakGlassState[]>;
  /** Day by day, as the rollup has it. Undefined: there is no such subject, or it is not theirs to see. */
  usage(asked: UsageQuery, viewer: Viewer): Promise<UsageDaysView | undefined>;
  /** Share of jobs with an admission request. Undefined: the group does not exist or is not visible. */
  coverage(asked: CoverageQuery, viewer: Viewer): Promise<CoverageView | undefined>;
  /** Spend of a period by one key, next to the previous period. */
  spend(asked: SpendQuery, viewer: Viewer): Promise<SpendAnswer>;
  /** The same for every group, for files. */
  spendList(asked: SpendQuery, viewer: Viewer): Promise<SpendListAnswer>;
  /** Returns a check if the viewer may see a subject, by today's groups. */
  sight(viewer: Viewer): Promise<(subject: string) => boolean>;
}
