/**
 * What the console's pages and its API show. Everything here is cut to what the viewer may see: their groups and all that is
 * below them. What is outside looks as if it did not exist.
 *
 * Amounts are whole units of `unit` (`micros` are millionths of the deployment's currency), instants Unix ms, days `2026-11-21`.
 * Subjects are texts as in functions/limits/desk/contract.ts.
 */
import type { Unit } from '../../../policies/claim.ts';
import type { LimitKind } from '../../../policies/limits/limits.ts';
import type { PeriodKind } from '../../../policies/limits/period.ts';
import type { Mode } from '../../../policies/mode.ts';
import type { RuleKind } from '../../../policies/rule.ts';
import type { JobsCounted } from '../../backtest/compare-recent.ts';
import type {
  BreakGlassState,
  HistoryAsked,
  HistoryPage,
  LimitEdit,
  LimitRequest,
  Preview,
  Rights,
  RoleName,
} from '../../limits/desk/contract.ts';
import type { User } from '../../signin/user.ts';
import type { Explained } from './explain/explained.ts';

/** Who looks. */
export type Viewer = Pick<User, 'id' | 'username' | 'name' | 'roles'>;

/** Every method throws `LimitsError`, `LedgerError` or `DirectoryError` where the table gives no answer; retry later. */
export interface ConsoleRead {
  me(viewer: Viewer): Promise<Me>;
  overview(asked: OverviewAsked, viewer: Viewer): Promise<Overview>;
  /** Undefined: there is no such subject, or it is not theirs to see. */
  subject(subject: string, asked: SubjectAsked, viewer: Viewer): Promise<SubjectView | undefined>;
  /** @param word - a job id, a decision id `d-4711-1`, or the address of a job's page. */
  job(word: string, viewer: Viewer): Promise<JobAnswer>;
  shadow(asked: ShadowAsked, viewer: Viewer): Promise<ShadowView>;
  /** What edits would do, for the page on which somebody confirms them. Writes nothing. */
  preview(edits: readonly LimitEdit[], base: string | undefined, viewer: Viewer): Promise<PreviewAnswer>;
  /** Which jobs of the last days edits would have failed, job by job, within what a request may take. Writes nothing. */
  backtest(edits: readonly LimitEdit[], base: string | undefined, viewer: Viewer): Promise<BacktestAnswer>;
  /** Newest first; rows of subjects outside are left out, `count` with them. */
  history(asked: HistoryAsked, viewer: Viewer): Promise<HistoryPage>;
  /** Newest first; those the viewer filed, and those of their groups. */
  requests(viewer: Viewer): Promise<readonly RequestRow[]>;
  breakGlasses(viewer: Viewer): Promise<readonly BreakGlassState[]>;
  /** Day by day, as the rollup has it. Undefined: there is no such subject, or it is not theirs to see. */
  usage(asked: UsageAsked, viewer: Viewer): Promise<UsageDaysView | undefined>;
  /** Whether the viewer may know of a subject, as the groups are now. */
  sight(viewer: Viewer): Promise<(subject: string) => boolean>;
}

// ── who ────────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface Me {
  readonly id: number;
  readonly username: string;
  readonly name: string;
  readonly rights: Rights;
  /** Names of `rights`, strongest first; empty: signed in, and may do nothing but see this. */
  readonly roles: readonly RoleName[];
  /** Sees the whole instance. */
  readonly seesAll: boolean;
  /** Topmost groups they see, by path; at most 200. Empty for who sees all. */
  readonly groups: readonly {
    readonly id: number;
    readonly path: string;
    readonly role: 'owner' | 'viewer';
  }[];
  /** ISO 4217. */
  readonly currency: string;
  /** Decisions they may take on others' requests that are waiting. */
  readonly waiting: number;
}

// ── overview ───────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * `runs-out-first`: by when the money is gone, what is gone already first, and what only watches after what rejects jobs;
 * `spent`: most first; `name`: by path.
 */
export type OverviewSort = 'runs-out-first' | 'spent' | 'name';

export interface OverviewAsked {
  /** Part of the path, any case; at most 200 characters. */
  readonly search?: string;
  /** @default `runs-out-first` */
  readonly sort?: OverviewSort;
  /** Only the children of this group: one step of the tree. `roots`: the topmost groups the viewer sees. */
  readonly under?: number | 'roots';
  /** Only those the viewer owns. */
  readonly mine?: boolean;
  /** `next` or `previous` of a page with the same questions. */
  readonly cursor?: string;
  /** 1–100. @default 50 */
  readonly max?: number;
}

export interface Overview {
  /** The set of limits it shows; undefined: none was ever made live. */
  readonly set: string | undefined;
  readonly currency: string;
  readonly nowMs: number;
  /** When the oldest of the numbers that decided the order was read; numbers of rows are of `nowMs`. */
  readonly orderedAtMs: number;
  /** When the group list was last read from GitLab; undefined: never. */
  readonly directoryAtMs?: number;
  readonly rows: readonly GroupRow[];
  /** Groups that match, in all. */
  readonly total: number;
  /** 1-based number of the first row. */
  readonly first: number;
  readonly next?: string;
  readonly previous?: string;
  /** Groups without a budget of which usage was not read for the order: they come last, by path. */
  readonly unranked: number;
  /** The whole instance; only for who sees all. */
  readonly instance?: GroupRow;
}

export interface GroupRow {
  /** `group/101`, `instance` */
  readonly subject: string;
  /** Absent for the instance. */
  readonly groupId?: number;
  readonly parentId?: number;
  /** Full path; `The whole GitLab` for the instance. */
  readonly path: string;
  /** Levels above it that the viewer sees: 0 is the top of their tree. */
  readonly depth: number;
  /** Groups right below it. */
  readonly children: number;
  readonly personal: boolean;
  /**
   * The budget that runs out first, of money or minutes, of those that reject jobs; one that only watches where there is no
   * other. Absent: it has none, see `metered`.
   */
  readonly budget?: LimitRow;
  /** How many other limits it has in force. */
  readonly others: number;
  /** Of a group without a budget of money: what it used this month. */
  readonly metered?: Metered;
  /** Nothing of it starts now. */
  readonly frozen?: FreezeRow;
  /** Grants in force or to come, on all of its limits. */
  readonly grants: number;
  /** It is given to its children more than once: whoever comes first has it. */
  readonly pool?: PoolNote;
}

export interface PoolNote {
  /** What the closest limits below come to. */
  readonly childrenAmount: number;
  readonly children: number;
  /** Paths of children whose own limit is larger than this one: this one binds them. At most ten. */
  readonly larger: readonly string[];
}

/** A limit in force and how its counter stands. */
export interface LimitRow {
  readonly subject: string;
  /** The limit's id: `money-month`. */
  readonly id: string;
  readonly kind: LimitKind;
  readonly unit: Unit;
  /** What is in force: with what was carried over and grants. */
  readonly amount: number | 'unlimited';
  /** As it was written. */
  readonly baseAmount: number | 'unlimited';
  /** Of `amount`, by grants in force. */
  readonly granted: number;
  /** Over from the period before; below 0 overdrawn. */
  readonly carried: number;
  readonly softAmount?: number;
  /** As it was written: a share of the limit as `80%`, or whole units. */
  readonly baseSoft?: string | number;
  /** The most that is carried over, likewise. */
  readonly baseCarry?: string | number;
  readonly graceAmount?: number;
  readonly per?: PeriodKind;
  readonly period?: PeriodRow;
  readonly zone: string;
  readonly mode: Mode;
  /** The rollout of the group makes it milder than `mode`. */
  readonly rolledOutAs?: Mode;
  /** Solid part of the bar: final. Of what is counted at once 0. */
  readonly settled: number;
  /** Hatched part: held by jobs that run or wait. */
  readonly held: number;
  /** Settled + held, of it what would fit had this been enforced; differs from the sum only in shadow and warn. */
  readonly fitted: number;
  /** Below 0: passed. Absent: unlimited. */
  readonly left?: number;
  /** Settled + held of the amount, whole percent, rounded down; 100 or more only if it is used up. */
  readonly percent?: number;
  readonly forecast?: ForecastRow;
  readonly owner?: string;
  readonly contact?: string;
  readonly costCenter?: string;
  readonly reason?: string;
  /** It asks nothing before or from these instants on. */
  readonly fromMs?: number;
  readonly untilMs?: number;
  /** It is the default of all groups like this, not its own. */
  readonly byDefault?: true;
  /** In force at all: false for one that has not begun or is over; then no numbers but the written ones count. */
  readonly inForce: boolean;
}

export interface PeriodRow {
  /** `2026-11` */
  readonly key: string;
  /** `November 2026` */
  readonly label: string;
  readonly startMs: number;
  /** Infinity (`null` in JSON) for what never starts anew. */
  readonly endMs: number;
}

/** When what is left is used up, if every day is like its weekday in the last four weeks. */
export interface ForecastRow {
  readonly outcome: 'runs_out' | 'lasts' | 'used_up';
  /** Only with `runs_out`. */
  readonly atMs?: number;
  /** What it will come to at the end of the period, whole units; the forecast mark on the bar. */
  readonly atEndAmount?: number;
}

export interface Metered {
  /** This calendar month, in the rollup's zone. */
  readonly settledMicros: number;
  readonly heldMicros: number;
  readonly seconds: number;
  readonly jobs: number;
  readonly sinceDay: string;
}

export interface FreezeRow {
  readonly id: string;
  readonly reason: string;
  readonly owner?: string;
  readonly fromMs?: number;
  /** Absent: until somebody lifts it. */
  readonly untilMs?: number;
  /** Of a group above, or of the instance: its path. */
  readonly above?: string;
}

// ── one subject ────────────────────────────────────────────────────────────────────────────────────────────────────

export interface SubjectAsked {
  /** Which limit the chart is of. @default the budget that runs out first */
  readonly limit?: string;
}

export interface SubjectView {
  readonly set: string | undefined;
  readonly currency: string;
  readonly nowMs: number;
  readonly subject: string;
  readonly kind: 'instance' | 'group' | 'project' | 'runner-class';
  /** Full path, or the class's name. */
  readonly path: string;
  /** Topmost first, as far as the viewer sees them; without itself. */
  readonly above: readonly { readonly subject: string; readonly path: string }[];
  /** Every limit written for it or its by default, in force or not. */
  readonly limits: readonly LimitRow[];
  /** Limits of groups above that the viewer does not see, as far as the group's disclosure allows; no more than this. */
  readonly limitsAbove: readonly {
    readonly label: string;
    readonly unit: Unit;
    readonly amount: number;
    readonly left: number;
    readonly periodLabel?: string;
    readonly contact?: string;
  }[];
  readonly pools: readonly (PoolNote & { readonly limit: string })[];
  readonly burnUp?: BurnUp;
  /** This period of the chart's limit, or this month without one. */
  readonly usage: UsageView;
  readonly grants: readonly GrantRow[];
  /** In force and to come, its own and those from above. */
  readonly freezes: readonly FreezeRow[];
  /** How far rules go while they are rolled out; absent: as the policy says. */
  readonly rollout?: { readonly cost?: Mode; readonly capacity?: Mode };
  /** First page; `history` has the next. */
  readonly history: HistoryPage;
  /** Groups right below, by path, at most 25: `overview({under})` pages through more. */
  readonly children: readonly GroupRow[];
  readonly childCount: number;
  /** What the viewer may do here; the desk decides anew when they do. */
  readonly may: May;
}

export interface May {
  readonly tighten: boolean;
  readonly loosen: boolean;
  readonly grant: boolean;
  readonly freeze: boolean;
  readonly breakGlass: boolean;
  readonly rollOut: boolean;
  readonly ask: boolean;
}

/** Day by day against the limit: for the chart, and for the table beside it. */
export interface BurnUp {
  readonly limit: string;
  readonly unit: Unit;
  readonly period: PeriodRow;
  /** What is in force now; absent: unlimited. */
  readonly amount?: number;
  readonly softAmount?: number;
  /** From the period's first day to today. `total` is what came together until the end of the day, held amounts included. */
  readonly days: readonly { readonly day: string; readonly used: number; readonly total: number }[];
  /** From today to the end of the period as forecast; empty where nothing is known or the period does not end. */
  readonly ahead: readonly { readonly day: string; readonly total: number }[];
  /**
   * What the counter has beyond the days: jobs that did not come through the rollup yet, adjustments by hand, carried
   * holds. Added to today's total. Below 0: the days have more.
   */
  readonly unexplained: number;
}

export interface UsageView {
  /** First and last day. */
  readonly fromDay: string;
  readonly toDay: string;
  readonly jobs: number;
  readonly rejected: number;
  readonly unmetered: number;
  readonly bypass: number;
  readonly exempt: number;
  readonly settledMicros: number;
  readonly heldMicros: number;
  readonly seconds: number;
  /** Most first, at most 20. Of projects none. */
  readonly topProjects: readonly {
    readonly projectId: number;
    readonly path: string;
    readonly micros: number;
  }[];
  /** Jobs by name, of the costliest projects, by how long they usually run; most first, at most 20. */
  readonly topJobs: readonly {
    readonly projectId: number;
    readonly path: string;
    readonly job: string;
    /** Runs that are remembered. */
    readonly runs: number;
    /** Median, seconds. */
    readonly usualSeconds: number;
  }[];
  /** Only of the instance: of a group nobody counts classes. Most first. */
  readonly runnerClasses: readonly {
    readonly name: string;
    readonly micros: number;
    readonly seconds: number;
    readonly jobs: number;
  }[];
  readonly rejections: Rejections;
}

export interface UsageAsked {
  readonly subject: string;
  /** 1–92, back from today. @default 31 */
  readonly days?: number;
}

export interface UsageDaysView {
  readonly subject: string;
  readonly path: string;
  readonly currency: string;
  /** IANA zone of the days. */
  readonly zone: string;
  readonly days: readonly UsageDay[];
}

export interface UsageDay {
  readonly day: string;
  readonly jobs: number;
  readonly admitted: number;
  readonly rejected: number;
  readonly seconds: number;
  readonly settledMicros: number;
  readonly heldMicros: number;
  readonly unmetered: number;
  readonly bypass: number;
  readonly exempt: number;
}

export interface Rejections {
  /** Over the same days; a job that several rules rejected counts under each. Most first. */
  readonly byRule: readonly { readonly rule: string; readonly kind?: RuleKind; readonly jobs: number }[];
  /** Would have been, by rules that only watch. */
  readonly watchedByRule: readonly {
    readonly rule: string;
    readonly kind?: RuleKind;
    readonly jobs: number;
  }[];
  /** The latest rejected jobs, newest first, at most 20. */
  readonly latest: readonly RejectedJob[];
}

export interface RejectedJob {
  readonly jobId: number;
  readonly decisionId: string;
  readonly atMs: number;
  readonly projectId?: number;
  readonly projectPath?: string;
  readonly jobName?: string;
  /** Its page in GitLab, where the address is known. */
  readonly url?: string;
  readonly reasons: readonly { readonly rule: string; readonly code: string; readonly text: string }[];
}

export interface GrantRow {
  readonly id?: string;
  readonly limit: string;
  readonly unit: Unit;
  readonly amount: number;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly reason: string;
  readonly ticket?: string;
  /** `over` ones are listed for 30 days. */
  readonly state: 'to_come' | 'in_force' | 'over';
  /** Until it ends, or, to come, until it begins. */
  readonly remainingMs: number;
}

// ── one job ────────────────────────────────────────────────────────────────────────────────────────────────────────

export type JobAnswer =
  | { readonly outcome: 'found'; readonly explanation: Explained }
  /** No record, expired, another generation, or not theirs to see. */
  | { readonly outcome: 'unknown'; readonly sentence: string }
  /** `word` names no job. */
  | { readonly outcome: 'unreadable'; readonly sentence: string };

// ── shadow ─────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface ShadowAsked {
  /** 1–62. @default 14 */
  readonly days?: number;
  /** @default all the viewer sees */
  readonly group?: number;
  readonly cursor?: string;
  /** 1–100. @default 50 */
  readonly max?: number;
}

/** What would have happened had the limits and rules that only watch been enforced. */
export interface ShadowView {
  readonly currency: string;
  readonly nowMs: number;
  readonly fromDay: string;
  readonly toDay: string;
  readonly rows: readonly ShadowRow[];
  readonly next?: string;
  /** Subjects in all: the top of what is asked for, the groups below a named one, and whoever has a limit that watches. */
  readonly total: number;
}

export interface ShadowRow {
  readonly subject: string;
  readonly path: string;
  /** Of all jobs of these days. */
  readonly jobs: number;
  /** By rule, most first; a job counts under each rule. */
  readonly wouldFail: readonly { readonly rule: string; readonly kind?: RuleKind; readonly jobs: number }[];
  /** Its limits that watch. */
  readonly limits: readonly {
    readonly limit: LimitRow;
    /** What of this period's use would not have been let in. */
    readonly refusedAmount: number;
  }[];
  readonly owner?: string;
  readonly contact?: string;
}

// ── preview ────────────────────────────────────────────────────────────────────────────────────────────────────────

export type PreviewAnswer =
  | (Extract<Preview, { outcome: 'invalid' }> & { readonly set: string | undefined })
  /** A subject that is not there, or not theirs to see. */
  | { readonly outcome: 'unknown_subject'; readonly subject: string }
  | (Omit<Extract<Preview, { outcome: 'valid' }>, 'document' | 'limits'> & {
      /** The live one. */
      readonly set: string | undefined;
      /** Of limits whose amount changes; at most 20. */
      readonly effects: readonly EditEffect[];
    });

export interface EditEffect {
  readonly subject: string;
  readonly path: string;
  readonly limit: string;
  /** Undefined: it is new. */
  readonly before?: LimitRow;
  /** Undefined: it goes. Its numbers are those of today's counter. */
  readonly after?: LimitRow;
  /** Absent: not a budget per period, or no history. */
  readonly lookBack?: LookBack;
}

/** An estimate from the days' totals: jobs that came after the new amount would have been reached. */
export interface LookBack {
  readonly days: number;
  readonly jobs: number;
  readonly jobsStopped: number;
  /** With the amount that is in force now. */
  readonly jobsStoppedBefore: number;
  /** The first day on which it would have been reached. */
  readonly reachedOn?: string;
}

export type BacktestAnswer =
  | (Extract<Preview, { outcome: 'invalid' }> & { readonly set: string | undefined })
  /** A subject that is not there, or not theirs to see. */
  | { readonly outcome: 'unknown_subject'; readonly subject: string }
  /** It costs many reads: so often a minute and no more. */
  | { readonly outcome: 'too_often'; readonly retryAfterSeconds: number }
  | BacktestCounted;

/** From the jobs' records, lived again with the limits as they are and with the edit. */
export interface BacktestCounted {
  readonly outcome: 'counted';
  /** The live one. */
  readonly set: string | undefined;
  /** Days that were to be counted, today included. */
  readonly days: number;
  /** What was counted of them: half-open, Unix ms, and its first day. Equal: nothing could be. */
  readonly fromMs: number;
  readonly untilMs: number;
  readonly fromDay: string;
  /** All of these days, and every job of them. */
  readonly complete: boolean;
  /** Jobs of any edited subject, each counted once. */
  readonly all: JobsCounted;
  /** By edited subject, as the edits name them; at most 20. */
  readonly subjects: readonly (JobsCounted & {
    readonly subject: string;
    readonly path: string;
    /** What the days' totals have and no record was found of. */
    readonly missed: number;
  })[];
  /** Records read, of all subjects. */
  readonly jobsRead: number;
}

export type { JobsCounted };

// ── requests ───────────────────────────────────────────────────────────────────────────────────────────────────────

export interface RequestRow extends LimitRequest {
  readonly path: string;
  /** The limit as it stands; undefined: it is gone, or not theirs to see. */
  readonly limitNow?: LimitRow;
  /** The viewer may decide it now. */
  readonly mayDecide: boolean;
  /** The viewer filed it. */
  readonly own: boolean;
}
