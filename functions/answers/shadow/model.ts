import type { RuleKind } from '../../../policies/kinds/kinds.ts';
import type { LimitRow } from '../standing/model.ts';

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
  /** All jobs of these days. */
  readonly jobs: number;
  /**
   * Jobs that were rejected and ran all the same, because GitLab follows no answer in dry run, or past us: an enabled
   * controller would have failed them. Tried again by GitLab, a job counts again.
   */
  readonly ranRejected: number;
  /** The same by rule, most first; a job counts under each rule. */
  readonly ranRejectedBy: readonly {
    readonly rule: string;
    readonly kind?: RuleKind;
    readonly jobs: number;
  }[];
  /** One row per rule or limit that only watches, most first; a job counts under each rule. */
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
