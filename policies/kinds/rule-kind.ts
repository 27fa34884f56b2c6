import type { CheckedJob } from '../checked-job.ts';
import type { Reading } from '../document/reading.ts';
import type { RuleClass } from '../mode.ts';

/**
 * Defines one kind of stateless rule: its keys and its check. Its reasons and their texts are in the same
 * file.
 */
export interface StatelessRuleKind<Own extends { readonly code: string }> {
  readonly class: RuleClass;
  readonly keys: readonly string[];
  /** The check uses the job's groups and may be undecided without a directory. */
  readonly readsPlace?: true;
  readonly readsVariables?: true;
  /** A field it looks at whose absence means that there is none. */
  readonly alsoReads?: string;
  readonly comparedNames?: (rule: unknown) => readonly string[];
  readonly read: (reading: Reading, names: KnownNames) => Check<Own>;
}

/**
 * Returns one reason for each violation, `[]` if there are none. `FIELD_MISSING` names a field that was not
 * sent; `on_missing` then decides. Pure; made once, when the policy is read.
 */
export type Check<Own> = (job: CheckedJob) => readonly (Own | FieldMissingReason)[];

export interface FieldMissingReason {
  readonly code: 'FIELD_MISSING';
  readonly field: string;
}

export interface KnownNames {
  readonly runnerClasses: readonly string[];
  /** IANA zone in which days in rules are meant that name none themselves. */
  readonly zone: string;
}
