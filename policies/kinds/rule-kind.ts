import type { CheckedJob } from '../checked-job.ts';
import type { Reading } from '../document/reading.ts';
import type { RuleClass } from '../mode.ts';

export interface StatelessRuleKind<Own extends { readonly code: string }> {
  readonly class: RuleClass;
  readonly keys: readonly string[];
  /** The check uses the job's groups and may be undecided without a directory. */
  readonly readsPlace?: true;
  readonly readsVariables?: true;
  /** A field it looks at whose absence means that there is none. */
  readonly alsoReads?: string;
  readonly comparedNames?: (rule: Reading) => readonly string[];
  readonly read: (reading: Reading, names: KnownNames) => Check<Own>;
}

/** `FIELD_MISSING` names a field that was not sent; `on_missing` then decides. Pure. */
export type Check<Own> = (job: CheckedJob) => readonly (Own | FieldMissingReason)[];

export interface FieldMissingReason {
  readonly code: 'FIELD_MISSING';
  readonly field: string;
}

export interface KnownNames {
  readonly runnerClasses: readonly string[];
  readonly zone: string;
}
