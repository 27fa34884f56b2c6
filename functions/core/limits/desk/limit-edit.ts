import type { OutagePolicy } from '../../../../policies/limits/limit.ts';
import type { PeriodKind } from '../../../../policies/limits/period.ts';
import type { Mode } from '../../../../policies/mode.ts';
import type { LimitKind } from '../../../../policies/units/unit.ts';

export type LimitEdit =
  | SetLimit
  | ScaleLimits
  | { readonly kind: 'remove'; readonly subject: string; readonly limit: string }
  | GiveGrant
  | { readonly kind: 'revoke'; readonly grant: string }
  | FreezeSubject
  | { readonly kind: 'unfreeze'; readonly freeze: string }
  | BreakGlassEdit
  | { readonly kind: 'end-breakglass'; readonly breakglass: string }
  /** Records the review of a break-glass. */
  | { readonly kind: 'review-breakglass'; readonly breakglass: string; readonly note: string }
  | {
      readonly kind: 'rollout';
      /** `instance`, a group or a project. */
      readonly subject: string;
      /** `null`: what stands above says. */
      readonly cost?: Mode | null;
      readonly capacity?: Mode | null;
      /** Time of the shadow report to the owner, Unix ms; `null`: send it again. */
      readonly reportedMs?: number | null;
    }
  /** An import: the complete new document. One missing right refuses all of it. */
  | { readonly kind: 'replace'; readonly document: unknown };

/** Adds a limit, or changes fields of one that is there; what is not named stays, `null` takes a field out. */
export interface SetLimit extends LimitFields {
  readonly kind: 'set';
  readonly subject: string;
  /** The limit's id; absent: made from unit and period, `money-month`. */
  readonly limit?: string;
}

/** Kinds that can be scaled by a share: plain decimals. */
export const SCALED_KINDS = ['money', 'minutes', 'jobs'] as const satisfies readonly LimitKind[];

/** All limits of a kind in a place, a share more or less. `unlimited`, 0, caps and what has ended stay as they are. */
export interface ScaleLimits {
  readonly kind: 'scale';
  /** `instance`: all there are. */
  readonly subject: string;
  /** `+8%`, `-12.5 %` of each amount. */
  readonly by: string;
  /** @default money */
  readonly unit?: (typeof SCALED_KINDS)[number];
  /** To the nearest multiple of so many units, at least one. @default to the millionth, rounded down */
  readonly round?: string | number;
  /** With everything below. @default true */
  readonly below?: boolean;
}

/** A limit's fields with the names and texts of limits.yaml. */
export interface LimitFields {
  readonly unit?: LimitKind;
  /** `500.25`, `unlimited`, `0` blocks; CPU and memory as Kubernetes writes them. */
  readonly amount?: string | number;
  readonly per?: PeriodKind | null;
  readonly zone?: string | null;
  readonly fiscal_start?: string | null;
  /** `80%` or an amount. */
  readonly soft?: string | number | null;
  readonly grace?: string | number | null;
  /** The most that is carried over: `20%` or an amount. */
  readonly carry?: string | number | null;
  readonly overdraft?: 'absorb' | 'carry' | 'alert' | null;
  readonly mode?: Mode | null;
  readonly when_unreachable?: OutagePolicy | null;
  /** `20s`: how long a job is kept waiting for room. */
  readonly wait?: string | null;
  /** Limits of one cohort and unit use each other's idle amounts. */
  readonly cohort?: string | null;
  /** `50%` or an amount above its own. */
  readonly borrow?: string | number | null;
  /** The part that others may use: `50%` or an amount. */
  readonly lend?: string | number | null;
  /** Percents, and `forecast 100` of the forecast for the end of the period. */
  readonly thresholds?: readonly (number | string)[] | null;
  readonly owner?: string | null;
  readonly contact?: string | null;
  readonly cost_center?: string | null;
  /** A day or an instant; the limit asks nothing before it. */
  readonly from?: string | null;
  /** The last day, or an instant; the limit asks nothing after it. */
  readonly until?: string | null;
  readonly reason?: string | null;
}

/** A temporary extra amount. The approval rules decide if it needs approval. */
export interface GiveGrant {
  readonly kind: 'grant';
  readonly subject: string;
  readonly limit: string;
  /** In the limit's own unit: `+200`. */
  readonly amount: string | number;
  readonly from: string;
  readonly until: string;
  readonly reason: string;
  readonly ticket?: string;
}

/** No job of the subject starts: like a limit of 0, with a reason of its own. Running jobs finish. */
export interface FreezeSubject {
  readonly kind: 'freeze';
  readonly subject: string;
  /** Absent: from now on. */
  readonly from?: string;
  /** Absent: until someone lifts it. */
  readonly until?: string;
  /** Stands on the page of every job it stops: at most 200 characters. */
  readonly reason: string;
  readonly owner?: string;
}

/** Lets named people's jobs, or those of protected refs, pass limits and freezes that would stop them; never rules. */
export interface BreakGlassEdit {
  readonly kind: 'breakglass';
  /** `instance`, a group (with all below it) or a project. */
  readonly subject: string;
  /** GitLab's user ids. These or `protected`, or both, which then must both hold. */
  readonly users?: readonly number[];
  readonly protected?: true;
  /** Most jobs that it admits, per `per`. */
  readonly jobs: number;
  /** @default `once`: as long as it is open */
  readonly per?: 'hour' | 'day' | 'once';
  /** Absent: from now on. */
  readonly from?: string;
  /** At most seven days after `from`. */
  readonly until: string;
  readonly reason: string;
  readonly ticket?: string;
}
