import type { Reading } from '../../document/reading.ts';
import { readRequired } from '../required.ts';
import type { Check, StatelessRuleKind } from '../rule-kind.ts';
import type { PullPolicyReason } from './pull-policy-text.ts';

/** GitLab's words in `image: pull_policy`. */
const PULL_POLICIES = ['always', 'if-not-present', 'never'] as const;
/** What a job asked for is told up to here; GitLab knows three. */
const ASKED_MAX = 5;
/** A job with more wrong containers than this has been told enough. */
const REASONS_MAX = 5;

/**
 * Which pull policies a job may ask for, as the runner's `allowed_pull_policies`: the runner uses those that stand in
 * both lists, so the job's image and each of its services must share at least one with `allow`. A container that names
 * none gets the runner's default, and passes unless `required: true`. GitLab's wire format cannot tell "none" from "not
 * sent", so a version that does not send pull policies looks the same, and `on_missing` has nothing to decide.
 *
 * @see https://docs.gitlab.com/runner/executors/kubernetes/#restrict-docker-pull-policies
 */
export const pullPolicy: StatelessRuleKind<PullPolicyReason> = {
  class: 'security',
  keys: ['allow', 'required'],
  read: readPullPolicy,
};

function readPullPolicy(reading: Reading): Check<PullPolicyReason> {
  const list = reading.at('allow');
  const allowed = list
    .list('pull policies', PULL_POLICIES.length)
    .flatMap((each) => each.oneOf('a pull policy', PULL_POLICIES) ?? []);
  if (!list.isThere || (Array.isArray(list.value) && list.value.length === 0))
    list.refuse(`names no pull policy; expected some of ${PULL_POLICIES.join(', ')}`);
  const known: ReadonlySet<string> = new Set(allowed);
  const required = readRequired(reading);

  const refuse = (asked: readonly string[] = [], service?: string): PullPolicyReason | undefined => {
    const passes = asked.length === 0 ? !required : asked.some((each) => known.has(each));
    if (passes) return undefined;
    return {
      code: 'PULL_POLICY_NOT_ALLOWED',
      asked: asked.slice(0, ASKED_MAX),
      allowed,
      ...(service !== undefined && { service }),
    };
  };
  return ({ request }) =>
    [
      refuse(request.pullPolicies),
      ...(request.services ?? []).map((service) => refuse(service.pullPolicies, service.name)),
    ]
      .filter((reason) => reason !== undefined)
      .slice(0, REASONS_MAX);
}
