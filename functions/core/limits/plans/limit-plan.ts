import type { DocumentProblem } from '../../../../policies/document/parsed.ts';
import type { Limit } from '../../../../policies/limits/limit.ts';
import type { ScaleLimits } from '../desk/limit-edit.ts';
import type { LimitsDocument } from '../limit-set.ts';

/** What a limit shall be. */
export interface PlannedAmount {
  readonly subject: string;
  /** Its id, without the day that adopting gave it. */
  readonly limit: string;
  /** As limits.yaml has it: `500.25`, `unlimited`. */
  readonly amount: string;
}

/** Drafted amounts for a day to come. */
export interface LimitPlan {
  readonly id: string;
  readonly name: string;
  /** `2027-01-01`: the first day of what it plans, in each limit's own zone. */
  readonly from: string;
  readonly by: string;
  readonly atMs: number;
  readonly changedBy: string;
  readonly changedAtMs: number;
  /** Limits that are not named stay as they are. */
  readonly amounts: readonly PlannedAmount[];
  /** The request that would adopt it, once one was filed. */
  readonly request?: string;
  /** Nobody wants it any more. */
  readonly discarded?: true;
}

/** A limit that a plan can be about. */
export interface PlannedLimit {
  readonly subject: string;
  /** Its id, without the day that adopting gave it. */
  readonly id: string;
  /** In force now; absent: it begins later. */
  readonly today?: Limit;
  /** As it would be on the day without the plan. */
  readonly without: Limit;
  /** As it is on the day with the plan. */
  readonly planned: Limit;
}

/** A plan beside the limits that are live. */
export interface PlanDraft {
  readonly plan: LimitPlan;
  /** The set it stands on; undefined: none is live. */
  readonly set: string | undefined;
  readonly lines: readonly PlannedLimit[];
  /** Planned for what is no limit of that day any more. */
  readonly gone: readonly PlannedAmount[];
  /** All limits as they shall be, for the desk. */
  readonly document: LimitsDocument;
  /** Why its amounts do not fit the limits as they are by now; then `lines` are without them. */
  readonly problems: readonly DocumentProblem[];
}

/** What somebody writes into a plan; whole or not at all. */
export type PlanEdit =
  | { readonly kind: 'new'; readonly name: string; readonly from: string }
  | {
      readonly kind: 'amounts';
      readonly id: string;
      /** As people write them: `9,50`, `+8 %` of what is in force; `null` takes one out. */
      readonly amounts: readonly {
        readonly subject: string;
        readonly limit: string;
        readonly amount: string | null;
      }[];
      /** What the author said that decimals have; absent: nobody said. */
      readonly decimal?: '.' | ',';
    }
  | ({ readonly kind: 'scale'; readonly id: string } & Omit<ScaleLimits, 'kind'>)
  /** Somebody adopted it, and others have to approve that. */
  | { readonly kind: 'asked'; readonly id: string; readonly request: string }
  | { readonly kind: 'discard'; readonly id: string };

export type PlanOutcome =
  | { readonly outcome: 'saved'; readonly plan: LimitPlan }
  | { readonly outcome: 'invalid'; readonly problems: readonly DocumentProblem[] }
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'forbidden' }
  | { readonly outcome: 'too_many'; readonly max: number }
  /** Others write into it at the same time, again and again. */
  | { readonly outcome: 'busy' };
