import type { Unit } from './claim.ts';
import type { Mode, RuleClass } from './mode.ts';

/** Which limit, whose, and until when: what every quota reason carries. */
export interface LimitFacts {
  readonly limit: string;
  /** `subjectKey`. */
  readonly subject: string;
  /** What a person calls the subject, e.g. `group acme/payments`. */
  readonly subjectLabel: string;
  readonly unit: Unit;
  /** The limit's number, whole units. */
  readonly limitAmount: number;
  /** What this job asked for, whole units. */
  readonly asked: number;
  /** What a person calls the period, e.g. `November 2026`; absent for jobs at once. */
  readonly periodLabel?: string;
  /** When the period ends and the number starts anew, Unix ms. */
  readonly resetsAtMs?: number;
  readonly zone?: string;
  readonly owner?: string;
}

/**
 * Why, with the numbers behind it, so that the log, the metric and the user's message cannot disagree.
 * Codes are stable: people search for them.
 */
export type Reason =
  | ({
      readonly code: 'BUDGET_EXHAUSTED';
      readonly committed: number;
      readonly settled: number;
    } & LimitFacts)
  | ({
      readonly code: 'CONCURRENCY_FULL';
      readonly committed: number;
      readonly settled: number;
    } & LimitFacts)
  /** The job alone is larger than the limit (or the limit is 0): no wait and no settlement will help. */
  | ({ readonly code: 'EXCEEDS_LIMIT_ALONE' } & LimitFacts)
  | {
      readonly code: 'IMAGE_NOT_ALLOWED';
      readonly image: string;
      /** The closest allowed patterns, at most three. */
      readonly allowed: readonly string[];
      /** The denied pattern that matched, if a deny list decided. */
      readonly denied?: string;
    }
  | { readonly code: 'FIELD_MISSING'; readonly field: string }
  /** Our fault, not the job's: only where the operator asked for fail-closed. */
  | { readonly code: 'CONTROLLER_ERROR'; readonly cause: string };

/** A rule or limit that was not met. Only mode `enforce` rejects; the others are recorded. */
export interface Violation {
  readonly rule: string;
  readonly class: RuleClass;
  readonly mode: Exclude<Mode, 'off'>;
  readonly reason: Reason;
}
