import type { RuleClass } from './mode.ts';
import type { Reading } from './reading.ts';
import type { Check, CountedKind, StatelessKind } from './rule.ts';
import { containerUser } from './rules/container-user.ts';
import { freeze } from './rules/freeze.ts';
import { image } from './rules/image.ts';
import { overwrites } from './rules/overwrites.ts';
import { pullPolicy } from './rules/pull-policy.ts';
import { resources } from './rules/resources.ts';
import { runnerAccess } from './rules/runner-access.ts';
import { services } from './rules/services.ts';
import { timeout } from './rules/timeout.ts';

/** How one kind of stateless rule is written and what it checks. */
export interface StatelessRuleKind {
  /** Its class if the document names none. */
  readonly class: RuleClass;
  /** Its own keys, beside those every rule has. */
  readonly keys: readonly string[];
  /** Reads its own keys once; problems are noted in `reading` and make the document invalid. */
  readonly read: (reading: Reading, names: KnownNames) => Check;
}

/** Names the document defined before its rules. */
export interface KnownNames {
  readonly runnerClasses: readonly string[];
}

export const STATELESS_RULES: Readonly<Record<StatelessKind, StatelessRuleKind>> = {
  image,
  services,
  'pull-policy': pullPolicy,
  resources,
  overwrites,
  'container-user': containerUser,
  timeout,
  'runner-access': runnerAccess,
  freeze,
};

/** Limits are for finance to edit, and nothing finance can edit may weaken a security rule: none of these is one. */
export const COUNTED_RULES: Readonly<Record<CountedKind, { readonly class: 'cost' | 'capacity' }>> = {
  budget: { class: 'cost' },
  concurrency: { class: 'capacity' },
  capacity: { class: 'capacity' },
  window: { class: 'capacity' },
};
