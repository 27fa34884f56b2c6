import type { ReasonText } from '../text/reason-text.ts';
import { containerUser } from './container-user/container-user.ts';
import { COUNTED_KINDS, COUNTED_RULES, type CountedKind } from './counted-kinds.ts';
import { freeze } from './freeze/freeze.ts';
import { image } from './image/image.ts';
import { overwrites } from './overwrites/overwrites.ts';
import { pullPolicy } from './pull-policy/pull-policy.ts';
import { resources } from './resources/resources.ts';
import type { StatelessRuleKind } from './rule-kind.ts';
import { runnerAccess } from './runner-access/runner-access.ts';
import { services } from './services/services.ts';
import { timeout } from './timeout/timeout.ts';
import { variables } from './variables/variables.ts';

/** Kinds that need nothing but the request, the directory and the time: the relay's fallback decides them, too. */
export const STATELESS_RULES = {
  image,
  services,
  'pull-policy': pullPolicy,
  resources,
  overwrites,
  'container-user': containerUser,
  timeout,
  variables,
  'runner-access': runnerAccess,
  freeze,
};

export type StatelessKind = keyof typeof STATELESS_RULES;

/** The reasons of all these kinds. */
export type StatelessReason = {
  [Kind in StatelessKind]: (typeof STATELESS_RULES)[Kind] extends StatelessRuleKind<infer Own> ? Own : never;
}[StatelessKind];

export type RuleKind = CountedKind | StatelessKind;

export const RULE_KINDS: readonly RuleKind[] = [
  ...COUNTED_KINDS,
  ...(Object.keys(STATELESS_RULES) as StatelessKind[]),
];

export const isCounted = (kind: RuleKind): kind is CountedKind => kind in COUNTED_RULES;

export const statelessRuleKind = (kind: StatelessKind): StatelessRuleKind<StatelessReason> =>
  STATELESS_RULES[kind] as StatelessRuleKind<StatelessReason>;

/** Undefined: it is no kind, or one that counts. */
export const statelessKindOf = (word: unknown): StatelessRuleKind<StatelessReason> | undefined =>
  typeof word === 'string' && Object.hasOwn(STATELESS_RULES, word)
    ? statelessRuleKind(word as StatelessKind)
    : undefined;

/** What all these kinds tell of their reasons. */
export const STATELESS_TEXTS = Object.assign(
  {},
  ...Object.values(STATELESS_RULES).map(({ texts }) => texts),
) as {
  readonly [Code in StatelessReason['code']]: ReasonText<Extract<StatelessReason, { readonly code: Code }>>;
};
