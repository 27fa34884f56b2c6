/**
 * What the console's pages and its API show; each answer has its folder, with the shape in model.ts. Everything here is cut to what the viewer may see:
 * their groups and all that is below them. What is outside looks as if it did not exist.
 *
 * Amounts are whole units of `unit` (`micros` are millionths of the deployment's currency), instants Unix ms, days `2026-11-21`.
 * Subjects are texts as in functions/core/limits/desk/contract.ts.
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
  /** What is written on a subject itself, in force now or not; empty for one that is not theirs to see. */
  ownLimits(subject: string, viewer: Viewer): Promise<readonly OwnLimit[]>;
  /** What stands beside the limits that hold for a subject, or beside all that are theirs to see. */
  exceptions(subject: string | undefined, viewer: Viewer): Promise<readonly ExceptionRow[]>;
  /** @param word - a job id, a decision id `d-4711-1`, or the address of a job's page. */
  job(word: string, viewer: Viewer): Promise<JobAnswer>;
  /** What the jobs of a pipeline would meet now, and what is left of the limits they would take of. Writes nothing. */
  check(asked: AskedPipeline, viewer: Viewer): Promise<PipelineAnswer>;
  shadow(asked: ShadowQuery, viewer: Viewer): Promise<ShadowView>;
  /** Where groups stand on the way to enforcing, and what their next step needs. */
  rollout(asked: RolloutQuery, viewer: Viewer): Promise<RolloutView>;
  /** Which jobs of the last days would have failed, were these enforced. Writes nothing. */
  rolloutForecast(
    subjects: readonly string[],
    viewer: Viewer,
    cursor?: string,
  ): Promise<RolloutForecastAnswer>;
  /** What a group of the viewer's is charged for a month. */
  statement(asked: StatementQuery, viewer: Viewer): Promise<StatementAnswer>;
  /** The closed months of a group of the viewer's. Undefined: there is no such group, or it is not theirs to see. */
  closedMonths(group: string, viewer: Viewer): Promise<ClosedMonths | undefined>;
  /** Which closed statement has which number, of all groups. Undefined: nobody closes months here. */
  statementNumbers(from: number): Promise<StatementNumbers | undefined>;
  /** Since when which prices counted, with those of a span of time. Undefined: nobody keeps prices here. */
  deployedPrices(fromMs: number, untilMs: number): Promise<DeployedPrices | undefined>;
  /** The last ones of them, the youngest first. Empty: nothing was closed yet. */
  lastStatements(atMost: number): Promise<StatementNumbers['numbers']>;
  /** Whether counters and statements agree, of what the viewer sees, and when that was checked. */
  reconciliation(viewer: Viewer): Promise<Reconciliation>;
  /** What edits would do, for the page on which somebody confirms them. Writes nothing. */
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
  /** How many requests wait for the viewer to decide them. */
  waiting(viewer: Viewer): Promise<number>;
  breakGlasses(viewer: Viewer): Promise<readonly BreakGlassState[]>;
  /** Day by day, as the rollup has it. Undefined: there is no such subject, or it is not theirs to see. */
  usage(asked: UsageQuery, viewer: Viewer): Promise<UsageDaysView | undefined>;
  /** How many of the jobs that ran were asked about. Undefined: there is no such group, or it is not theirs to see. */
  coverage(asked: CoverageQuery, viewer: Viewer): Promise<CoverageView | undefined>;
  /** What was spent in a period, by one key, beside the period before. */
  spend(asked: SpendQuery, viewer: Viewer): Promise<SpendAnswer>;
  /** The same of every group at once, for files. */
  spendList(asked: SpendQuery, viewer: Viewer): Promise<SpendListAnswer>;
  /** Whether the viewer may know of a subject, as the groups are now. */
  sight(viewer: Viewer): Promise<(subject: string) => boolean>;
}
