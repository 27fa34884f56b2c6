import { listText, quoted, shortened } from '../text/plain-text.ts';
import type { ReasonText } from '../text/reason-text.ts';
import type { StatelessRuleKind } from './rule-kind.ts';

const PULL_POLICIES = ['always', 'if-not-present', 'never'] as const;
const ASKED_MAX = 5;
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
  read(reading) {
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
  },
};

export interface PullPolicyReason {
  readonly code: 'PULL_POLICY_NOT_ALLOWED';
  readonly asked: readonly string[];
  readonly allowed: readonly string[];
  readonly service?: string;
}

const containerText = (service: string | undefined, charactersMax: number): string =>
  service === undefined ? 'this job' : `service ${quoted(service, charactersMax)}`;

export const pullPolicyNotAllowed: ReasonText<PullPolicyReason> = {
  headline: ({ asked, service }) => {
    const of = `of ${containerText(service, 30)}`;
    return asked.length === 0
      ? `A pull policy ${of} must be named here.`
      : `Pull policy ${shortened(askedText(asked), 40)} ${of} is not allowed here.`;
  },
  line: ({ asked, allowed, service }) =>
    `pull policy of ${containerText(service, 200)}: ${askedText(asked)}; allowed: ${listText(allowed, 'or')}`,
  advice: ({ allowed, service }, { disclosure }) => {
    const key = service === undefined ? '"image:pull_policy" of the job' : '"pull_policy" of the service';
    return [
      `Retrying will fail again. Set ${key}${disclosure === 'none' ? '' : ` to ${listText(allowed, 'or')}`}.`,
    ];
  },
};

const askedText = (asked: readonly string[]): string =>
  asked.length === 0
    ? 'none'
    : listText(
        asked.map((each) => quoted(each, 20)),
        'and',
      );
