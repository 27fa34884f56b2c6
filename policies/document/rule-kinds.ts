import type { StatelessKind } from '../rule.ts';
import { containerUser } from '../rules/container-user.ts';
import { freeze } from '../rules/freeze.ts';
import { image } from '../rules/image.ts';
import { overwrites } from '../rules/overwrites.ts';
import { pullPolicy } from '../rules/pull-policy.ts';
import { resources } from '../rules/resources.ts';
import { runnerAccess } from '../rules/runner-access.ts';
import { services } from '../rules/services.ts';
import type { StatelessRuleKind } from '../rules/stateless-rule-kind.ts';
import { timeout } from '../rules/timeout.ts';
import { variables } from '../rules/variables.ts';

export const STATELESS_RULES: Readonly<Record<StatelessKind, StatelessRuleKind>> = {
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
