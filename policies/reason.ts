import type { RefusalCode } from './kinds/counted-kinds.ts';
import type { StatelessReason } from './kinds/kinds.ts';
import type { FieldMissingReason } from './kinds/rule-kind.ts';
import type { LimitFacts } from './limits/limit.ts';
import type { Mode, RuleClass } from './mode.ts';

type CounterReason<Code extends string> = {
  readonly code: Code;
  readonly committed: number;
  readonly settled: number;
} & LimitFacts;

/** Codes are stable: people search for them. */
export type Reason =
  | { [Code in RefusalCode]: CounterReason<Code> }[RefusalCode]
  /** The part of a limit from which on its owner is warned; never rejects. `limitAmount` is the soft amount. */
  | CounterReason<'SOFT_LIMIT'>
  /** The job alone is larger than the limit (or the limit is 0): no wait and no settlement will help. */
  | ({ readonly code: 'EXCEEDS_LIMIT_ALONE' } & LimitFacts)
  | StatelessReason
  | FieldMissingReason
  | {
      readonly code: 'BREAK_GLASS';
      readonly breakGlass: string;
      readonly why: string;
      readonly owner?: string;
    }
  /** Our fault, not the job's: only where the operator asked for fail-closed. */
  | { readonly code: 'CONTROLLER_ERROR'; readonly cause: string };

export type CodedReason<Code extends Reason['code']> = Extract<Reason, { readonly code: Code }>;

/** A rule or limit that was not met. Only mode `enforce` rejects; the others are recorded. */
export interface Violation {
  readonly rule: string;
  readonly class: RuleClass;
  readonly mode: Exclude<Mode, 'off'>;
  readonly reason: Reason;
  /** The job is exempt from the rule: recorded like a shadow violation, but no simulation would reject it. */
  readonly exempt?: true;
}
