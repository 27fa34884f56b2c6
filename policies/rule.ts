import type { CountedKind } from './kinds/counted-kinds.ts';
import type { StatelessKind, StatelessReason } from './kinds/kinds.ts';
import type { Check } from './kinds/rule-kind.ts';
import type { OutagePolicy } from './limits/limit.ts';
import type { Exemption, Match } from './match/match.ts';
import type { Mode, RuleClass } from './mode.ts';

export type Rule = CountedRule | StatelessRule;

interface RuleBase {
  readonly id: string;
  readonly class: RuleClass;
  readonly match: Match;
  readonly mode: Mode;
  /** `admit`: the job passes, with a recorded shadow violation. `skip`: the rule does not match. */
  readonly onMissing: 'admit' | 'reject' | 'skip';
  readonly onError: 'open' | 'closed';
  readonly exempt: readonly Exemption[];
  /** Names of variables whose values it compares. Records do not contain them. */
  readonly compared: readonly string[];
  readonly order: number;
  readonly message?: string;
}

export interface CountedRule extends RuleBase {
  readonly stateless: false;
  readonly kind: CountedKind;
  readonly whenUnreachable?: OutagePolicy;
}

export interface StatelessRule extends RuleBase {
  readonly stateless: true;
  readonly kind: StatelessKind;
  readonly check: Check<StatelessReason>;
  readonly readsPlace: boolean;
}
