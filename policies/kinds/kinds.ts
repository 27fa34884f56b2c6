import { imageNotAllowed, privilegedDenied, tagNotAllowed } from '../images/image-text.ts';
import type { ReasonText } from '../text/reason-text.ts';
import { containerUser, containerUserNotAllowed } from './container-user.ts';
import { COUNTED_KINDS, COUNTED_RULES, type CountedKind } from './counted-kinds.ts';
import { freeze, groupFrozen } from './freeze.ts';
import { image } from './image.ts';
import { overwriteNotAllowed, overwrites } from './overwrites.ts';
import { pullPolicy, pullPolicyNotAllowed } from './pull-policy.ts';
import { resourceCap, resourceInvalid, resources } from './resources.ts';
import type { StatelessRuleKind } from './rule-kind.ts';
import { runnerAccess, runnerScope } from './runner-access.ts';
import { serviceLimit, services } from './services.ts';
import { timeout, timeoutTooLong } from './timeout.ts';
import { variableNotAllowed, variables } from './variables.ts';

/** Kinds that need nothing but the request, the directory and the time: the relay's fallback decides them, too. */
const STATELESS_RULES = {
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

export const STATELESS_TEXTS: {
  readonly [Code in StatelessReason['code']]: ReasonText<Extract<StatelessReason, { readonly code: Code }>>;
} = {
  IMAGE_NOT_ALLOWED: imageNotAllowed,
  TAG_NOT_ALLOWED: tagNotAllowed,
  PRIVILEGED_DENIED: privilegedDenied,
  SERVICE_LIMIT: serviceLimit,
  PULL_POLICY_NOT_ALLOWED: pullPolicyNotAllowed,
  RESOURCE_CAP: resourceCap,
  RESOURCE_INVALID: resourceInvalid,
  OVERWRITE_NOT_ALLOWED: overwriteNotAllowed,
  CONTAINER_USER_NOT_ALLOWED: containerUserNotAllowed,
  TIMEOUT_TOO_LONG: timeoutTooLong,
  VARIABLE_NOT_ALLOWED: variableNotAllowed,
  RUNNER_SCOPE: runnerScope,
  GROUP_FROZEN: groupFrozen,
};
