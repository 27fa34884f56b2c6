import type { Mode } from '../../../policies/mode.ts';
import type { Unit } from '../../../policies/units/unit.ts';
import type { HistoryPage } from '../../core/limits/desk/history.ts';
import type { BudgetAgreement } from '../../core/usage/budget-agreement.ts';
import type { GroupSum } from '../../core/usage/group-sum.ts';
import type { GroupRow, PoolNote } from '../overview/model.ts';
import type { FreezeRow, LimitRow, PeriodRow } from '../standing/model.ts';
import type { UsageView } from '../usage/model.ts';

export interface SubjectAsked {
  /** Which limit the chart is of. @default the budget that runs out first */
  readonly limit?: string;
}

export interface SubjectView {
  readonly set: string | undefined;
  readonly currency: string;
  readonly nowMs: number;
  /** IANA zone in which days are meant that somebody writes about it: its own limits' zone, else that of those above. */
  readonly zone: string;
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
  /** Says for each budget in force whether counter, usage and records agree, and why not. */
  readonly agreements: readonly BudgetAgreement[];
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
  /** With it the `metered` of `children` come to what the group used this month; absent without children. */
  readonly childrenSum?: GroupSum;
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

export interface GrantRow {
  readonly id?: string;
  readonly limit: string;
  readonly unit: Unit;
  readonly amount: number;
  readonly fromMs: number;
  readonly untilMs: number;
  /** The limit's: the edges are told in it. */
  readonly zone: string;
  readonly reason: string;
  readonly ticket?: string;
  /** `over` ones are listed for 30 days. */
  readonly state: 'to_come' | 'in_force' | 'over';
  /** Until it ends, or, to come, until it begins. */
  readonly remainingMs: number;
}
