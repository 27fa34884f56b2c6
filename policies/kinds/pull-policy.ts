import type { Reading } from '../document/reading.ts';
import { listText, quoted, shortened } from '../text/plain-text.ts';
import type { ReasonText } from '../text/reason-text.ts';
import type { Check, StatelessRuleKind } from './rule-kind.ts';

/** GitLab's words in `image: pull_policy`. */
const PULL_POLICIES = ['always', 'if-not-present', 'never'] as const;
/** Longer lists are cut; GitLab knows three policies. */
const ASKED_MAX = 5;
/** More reasons would not help the reader. */
const REASONS_MAX = 5;

/**
 * Limits the pull policies of images, as the runner's `allowed_pull_policies`. The runner uses policies that
 * are in both lists, so each image must share at least one with `allow`.
 *
 * A container without a policy gets the runner's default and passes unless `required: true`. GitLab's wire
 * format does not distinguish "none" from "not sent", so `on_missing` has nothing to decide.
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
  const allowed: readonly string[] = list.each('pull policies', PULL_POLICIES.length, (each) =>
    each.oneOf('a pull policy', PULL_POLICIES),
  );
  if (!list.isThere || (Array.isArray(list.value) && list.value.length === 0))
    list.refuse(`names no pull policy; expected some of ${PULL_POLICIES.join(', ')}`);
  const required = reading.flag('required');
  return ({ request }) =>
    [request, ...(request.services ?? [])]
      .flatMap((container): readonly PullPolicyReason[] => {
        const { pullPolicies: asked = [] } = container;
        if (asked.length === 0 ? !required : asked.some((each) => allowed.includes(each))) return [];
        const service = 'name' in container ? { service: container.name } : {};
        return [{ code: 'PULL_POLICY_NOT_ALLOWED', asked: asked.slice(0, ASKED_MAX), allowed, ...service }];
      })
      .slice(0, REASONS_MAX);
}

export interface PullPolicyReason {
  readonly code: 'PULL_POLICY_NOT_ALLOWED';
  /** Empty: none, where one must be named. */
  readonly asked: readonly string[];
  readonly allowed: readonly string[];
  readonly service?: string;
}

const IMAGE_CHARACTERS_MAX = 200;

export const pullPolicyNotAllowed: ReasonText<PullPolicyReason> = {
  headline: ({ asked, service }) => {
    const of = service === undefined ? 'of this job' : `of service ${quoted(service, 30)}`;
    if (asked.length === 0) return `A pull policy ${of} must be named here.`;
    const named = shortened(quotedList(asked), 40);
    return asked.length === 1
      ? `Pull policy ${named} ${of} is not allowed here.`
      : `Pull policies ${named} ${of} are not allowed here.`;
  },
  line: ({ asked, allowed, service }) => {
    const whose = service === undefined ? 'image' : `service image ${quoted(service, IMAGE_CHARACTERS_MAX)}`;
    const instead = allowed.length === 0 ? 'none is allowed' : `allowed: ${listText(allowed, 'or')}`;
    if (asked.length === 0) return `no pull policy of the ${whose}; ${instead}`;
    return `pull policy ${quotedList(asked)} of the ${whose}; ${instead}`;
  },
  advice: ({ asked, allowed, service }, { disclosure }) => {
    const key = service === undefined ? '"image:pull_policy" of the job' : '"pull_policy" of the service';
    const change = `${asked.length === 0 ? 'Set' : 'Change'} ${key}`;
    const told = allowed.length === 0 ? `Remove ${key}` : `Set ${key} to ${listText(allowed, 'or')}`;
    return [`Retrying will fail again. ${disclosure === 'none' ? change : told}.`];
  },
};

const quotedList = (entries: readonly string[]): string =>
  listText(
    entries.map((each) => quoted(each, 20)),
    'and',
  );
