import type { CheckedJob } from './checked-job.ts';
import { COUNTED_KINDS, type CountedKind } from './kinds/counted-kinds.ts';
import type { Exemption } from './match/exemption.ts';
import type { Match } from './match/match.ts';
import type { Mode, RuleClass } from './mode.ts';
import type { Reason } from './reason.ts';

/** One entry of the policy document. */
export type Rule = CountedRule | StatelessRule;

export type RuleKind = Rule['kind'];

/** Kinds that need nothing but the request, the directory and the time: the relay's fallback decides them, too. */
export const STATELESS_KINDS = [
  'image',
  'services',
  'pull-policy',
  'resources',
  'overwrites',
  'container-user',
  'timeout',
  'variables',
  'runner-access',
  'freeze',
] as const;

export type StatelessKind = (typeof STATELESS_KINDS)[number];

export const RULE_KINDS: readonly RuleKind[] = [...COUNTED_KINDS, ...STATELESS_KINDS];

interface RuleBase {
  readonly id: string;
  readonly class: RuleClass;
  readonly match: Match;
  readonly mode: Mode;
  readonly onMissing: OnMissing;
  /** What to do when the rule itself fails: go on without it, or reject. */
  readonly onError: OnError;
  /** Jobs the rule lets pass for a reason and a time. They are metered all the same. */
  readonly exempt: readonly Exemption[];
  /** Where the rule stands in the document, from 0. */
  readonly order: number;
  /** Added to the rejection text, e.g. whom to ask. */
  readonly message?: string;
}

/**
 * What it means that GitLab did not send a field the rule needs. `admit`: the job passes, but that is recorded like a
 * shadow violation. `skip`: as if the rule did not match.
 */
export type OnMissing = 'admit' | 'reject' | 'skip';

export type OnError = 'open' | 'closed';

/** Evaluates every limit of its kind on the way from the instance to the job. */
export interface CountedRule extends RuleBase {
  readonly stateless: false;
  readonly kind: CountedKind;
}

export interface StatelessRule extends RuleBase {
  readonly stateless: true;
  readonly kind: StatelessKind;
  readonly check: Check;
  /** The check goes by the job's groups, which only a directory knows in full. */
  readonly readsPlace: boolean;
}

/**
 * What a rule has against a job: one reason for each thing that is wrong, `[]` if nothing is. `FIELD_MISSING` names a
 * field that did not come; `on_missing` then decides. Pure; made once, when the policy is read.
 */
export type Check = (job: CheckedJob) => readonly Reason[];
