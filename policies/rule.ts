import type { Match } from './match.ts';
import type { Mode, RuleClass } from './mode.ts';
import type { Reason } from './reason.ts';

/** One entry of the policy document. */
export type Rule = BudgetRule | ConcurrencyRule | ImageRule;

export type RuleKind = Rule['kind'];

export const RULE_KINDS: readonly RuleKind[] = ['budget', 'concurrency', 'image'];

interface RuleBase {
  readonly id: string;
  readonly class: RuleClass;
  readonly match: Match;
  readonly mode: Mode;
  readonly onMissing: OnMissing;
  /** What to do when the rule itself fails: go on without it, or reject. */
  readonly onError: OnError;
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

/** Money and minutes per period: evaluates every such limit on the way from the instance to the job. */
export interface BudgetRule extends RuleBase {
  readonly kind: 'budget';
}

/** Jobs at once: evaluates every such limit on the way from the instance to the job. */
export interface ConcurrencyRule extends RuleBase {
  readonly kind: 'concurrency';
}

/** Which container images, and services, a job may run. The only kind that needs no counters. */
export interface ImageRule extends RuleBase {
  readonly kind: 'image';
  /** Why an image may not be used; undefined if it may. Made by `imageJudge`. */
  readonly refuse: (image: string) => Reason | undefined;
  readonly check: readonly ImageField[];
}

export type ImageField = 'image' | 'services';

export const IMAGE_FIELDS: readonly ImageField[] = ['image', 'services'];
