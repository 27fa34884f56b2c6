import type { Reading } from '../document/reading.ts';
import type { RuleClass } from '../mode.ts';
import type { Check } from '../rule.ts';

/** How one kind of stateless rule is written and what it checks. */
export interface StatelessRuleKind {
  /** Its class if the document names none. */
  readonly class: RuleClass;
  /** Its own keys, beside those every rule has. */
  readonly keys: readonly string[];
  /** Its check goes by the job's groups: without a directory it cannot always be told. */
  readonly readsPlace?: true;
  /** Reads its own keys once; problems are noted in `reading` and make the document invalid. */
  readonly read: (reading: Reading, names: KnownNames) => Check;
}

/** What the document defined before its rules. */
export interface KnownNames {
  readonly runnerClasses: readonly string[];
  /** IANA zone in which days in rules are meant that name none themselves. */
  readonly zone: string;
}
