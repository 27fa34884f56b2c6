import { listText, quoted, shortened } from '../../text/plain-text.ts';
import type { AdviceContext, ReasonText } from '../../text/reason-text.ts';

export interface PullPolicyReason {
  readonly code: 'PULL_POLICY_NOT_ALLOWED';
  /** Empty: none, where one must be named. */
  readonly asked: readonly string[];
  readonly allowed: readonly string[];
  /** The service's image, if it is not the job's own. */
  readonly service?: string;
}

const IMAGE_CHARACTERS_MAX = 200;

export const pullPolicyNotAllowed: ReasonText<PullPolicyReason> = {
  headline: (reason) => pullPolicyHeadline(reason),
  discreetHeadline: (reason) => pullPolicyHeadline(reason),
  line: ({ asked, allowed, service }) => {
    const whose = service === undefined ? 'image' : `service image ${quoted(service, IMAGE_CHARACTERS_MAX)}`;
    const instead = allowed.length === 0 ? 'none is allowed' : `allowed: ${listText(allowed, 'or')}`;
    if (asked.length === 0) return `no pull policy of the ${whose}; ${instead}`;
    return `pull policy ${quotedList(asked)} of the ${whose}; ${instead}`;
  },
  advice: (reason, context) => [`Retrying will fail again. ${pullPolicyRemedy(reason, context)}`],
  faultless: false,
};

function pullPolicyHeadline({ asked, service }: PullPolicyReason): string {
  const of = service === undefined ? 'of this job' : `of service ${quoted(service, 30)}`;
  if (asked.length === 0) return `A pull policy ${of} must be named here.`;
  const named = shortened(quotedList(asked), 40);
  return asked.length === 1
    ? `Pull policy ${named} ${of} is not allowed here.`
    : `Pull policies ${named} ${of} are not allowed here.`;
}

const quotedList = (entries: readonly string[]): string =>
  listText(
    entries.map((each) => quoted(each, 20)),
    'and',
  );

function pullPolicyRemedy(
  { asked, allowed, service }: PullPolicyReason,
  { disclosure }: AdviceContext,
): string {
  const key = service === undefined ? '"image:pull_policy" of the job' : '"pull_policy" of the service';
  if (disclosure === 'none') return `${asked.length === 0 ? 'Set' : 'Change'} ${key}.`;
  return allowed.length === 0 ? `Remove ${key}.` : `Set ${key} to ${listText(allowed, 'or')}.`;
}
