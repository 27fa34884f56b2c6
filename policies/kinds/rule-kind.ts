import type { CheckedJob } from '../checked-job.ts';
import type { Reading } from '../document/reading.ts';
import type { RuleClass } from '../mode.ts';

/** How one kind of stateless rule is written and what it checks. Its reasons and how they read stand beside it. */
export interface StatelessRuleKind<Own extends { readonly code: string }> {
  /** Its class if the document names none. */
  readonly class: RuleClass;
  /** Its own keys, beside those every rule has. */
  readonly keys: readonly string[];
  /** Its check goes by the job's groups: without a directory it cannot always be told. */
  readonly readsPlace?: true;
  /** It looks at the values of variables that every deployment passes on. */
  readonly readsVariables?: true;
  /** A field it looks at whose absence means that there is none. */
  readonly alsoReads?: string;
  /** The variables that a rule, as it is written, compares by name. */
  readonly comparedNames?: (rule: unknown) => readonly string[];
  /** Reads its own keys once; problems are noted in `reading` and make the document invalid. */
  readonly read: (reading: Reading, names: KnownNames) => Check<Own>;
}

/**
 * What a rule has against a job: one reason for each thing that is wrong, `[]` if nothing is. `FIELD_MISSING` names a
 * field that did not come; `on_missing` then decides. Pure; made once, when the policy is read.
 */
export type Check<Own> = (job: CheckedJob) => readonly (Own | FieldMissingReason)[];

export interface FieldMissingReason {
  readonly code: 'FIELD_MISSING';
  readonly field: string;
}

/** What the document defined before its rules. */
export interface KnownNames {
  readonly runnerClasses: readonly string[];
  /** IANA zone in which days in rules are meant that name none themselves. */
  readonly zone: string;
}
