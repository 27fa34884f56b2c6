import type { Reading } from '../document/reading.ts';
import { listText, quoted } from '../text/plain-text.ts';
import type { AdviceContext, ReasonText } from '../text/reason-text.ts';
import { type Check, readRequired, type StatelessRuleKind } from './rule-kind.ts';

const EXECUTORS: readonly UserSyntax[] = ['kubernetes', 'docker'];
const IDS_MAX = 1_000;
/** As many as fit on a line. */
const ALLOWED_TOLD_MAX = 10;
/** More reasons would not help the reader. */
const REASONS_MAX = 5;
const ROOT = '0';

/**
 * Limits the user and group of containers: `image:kubernetes:user` and `image:docker:user` of the job and
 * its services, against `users` and `groups`, as the runner's `allowed_users` and `allowed_groups`.
 * - Kubernetes: `uid` or `uid:gid`, whole numbers from 0, or a part left empty; anything else is refused.
 * - Docker: names or ids, perhaps with a group. The rule compares texts, because only the image knows the id
 *   of a name.
 * - Root (id 0, `00` too, or the name `root`) is allowed only where it is listed, as `0` or `root`. An empty
 *   list allows any user but root.
 * - A value with a `$VARIABLE` left in it is unknown and matches no entry.
 * - `executors` names whose users are checked. A job may set one for each, and the request does not name the
 *   executor. Default: both.
 *
 * A container without a user runs as the user of its image, often root, or of the runner's security context.
 * It passes, as in the runner, unless `required: true`. GitLab's wire format does not distinguish "none" from "not
 * sent", so `on_missing` has nothing to decide.
 *
 * @see https://docs.gitlab.com/runner/executors/kubernetes/#security-validation
 */
export const containerUser: StatelessRuleKind<ContainerUserReason> = {
  class: 'security',
  keys: ['users', 'groups', 'executors', 'required'],
  read: readRule,
};

/** One container's users, as the request has them. */
interface ContainerUsers {
  readonly kubernetesUser?: string;
  readonly dockerUser?: string;
}

function readRule(reading: Reading): Check<ContainerUserReason> {
  const users = readIds(reading.at('users'), 'users');
  const groups = readIds(reading.at('groups'), 'groups');
  const executors = readExecutors(reading.at('executors'));
  const required = readRequired(reading);
  return ({ request }) => {
    const reasons = reasonsFor(request, undefined);
    for (const { name, ...service } of request.services ?? []) reasons.push(...reasonsFor(service, name));
    return reasons.slice(0, REASONS_MAX);
  };

  function reasonsFor(container: ContainerUsers, service: string | undefined): ContainerUserReason[] {
    return executors.flatMap((syntax) => {
      const text = syntax === 'kubernetes' ? container.kubernetesUser : container.dockerUser;
      const { user, group } = text === undefined ? NOBODY : readContainerUser(text, syntax);
      const unnamed =
        required && user === undefined ? { ...refusal('user', users, service), executor: syntax } : undefined;
      return [unnamed ?? judge('user', user, users, service), judge('group', group, groups, service)].filter(
        (reason) => reason !== undefined,
      );
    });
  }
}

const NOBODY: ContainerUser = {};

interface AllowedIds {
  readonly ids: ReadonlySet<string>;
  readonly told: readonly string[];
}

function judge(
  part: 'user' | 'group',
  asked: AskedId | undefined,
  allowed: AllowedIds,
  service: string | undefined,
): ContainerUserReason | undefined {
  if (asked === undefined) return undefined;
  const { id, isVariable, invalid } = asked;
  const passes = !isVariable && !invalid && (allowed.ids.size === 0 ? id !== ROOT : allowed.ids.has(id));
  if (passes) return undefined;
  return { ...refusal(part, allowed, service), asked: asked.text, ...(invalid && { invalid }) };
}

/** No `asked`: none is named. */
const refusal = (part: 'user' | 'group', allowed: AllowedIds, service: string | undefined) =>
  ({
    code: 'CONTAINER_USER_NOT_ALLOWED',
    part,
    asked: '',
    allowed: allowed.told,
    ...(service !== undefined && { service }),
  }) as const;

/** YAML reads `1000` as a number and `"1000"` as a text; both are meant. */
function readIds(reading: Reading, what: string): AllowedIds {
  const ids = reading.list(`${what}, by id or name`, IDS_MAX).flatMap((each) => {
    if (typeof each.value === 'number') return each.integer('an id from 0', 0) ?? [];
    return each.text('one id such as "1000", or one name', isOneId) ?? [];
  });
  const told = ids.map(String);
  return {
    ids: new Set(told.map(idOf)),
    told: told.slice(0, ALLOWED_TOLD_MAX),
  };
}

/** `1000:1001` would be a user and a group; both have a list of their own. Variables are put in before. */
const isOneId = (text: string): boolean => text.trim() !== '' && !/[:$]/.test(text);

const idOf = (text: string): string => readContainerUser(text, 'docker').user?.id ?? text;

function readExecutors(reading: Reading): readonly UserSyntax[] {
  if (!reading.isThere) return EXECUTORS;
  const named = reading.list('executors', EXECUTORS.length);
  if (Array.isArray(reading.value) && named.length === 0)
    reading.refuse(`is empty; leave it out or list some of ${EXECUTORS.join(', ')}`);
  return named.flatMap((each) => each.oneOf('an executor', EXECUTORS) ?? []);
}

/** Kubernetes takes numbers only; Docker takes names as well. */
type UserSyntax = 'kubernetes' | 'docker';

interface ContainerUser {
  readonly user?: AskedId;
  readonly group?: AskedId;
}

interface AskedId {
  /** As written. */
  readonly text: string;
  /** For comparing: `007` is `7`, and `root` is `0`. */
  readonly id: string;
  /** The value contains a variable and is unknown. */
  readonly isVariable: boolean;
  /** Nothing such an executor takes. */
  readonly invalid: boolean;
}

/** Kubernetes and Docker both end here; beyond it a number might wrap to root. */
const ID_MAX = 2 ** 31 - 1;

/** Reads `1000`, `1000:1001`, `www-data:www-data`. A part that is not there asks for nothing. */
function readContainerUser(text: string, syntax: UserSyntax): ContainerUser {
  const [userText = '', groupText, ...more] = text.split(':');
  if (more.length > 0) return { user: { text, id: text, isVariable: text.includes('$'), invalid: true } };
  const user = askedId(userText, syntax);
  const group = groupText === undefined ? undefined : askedId(groupText, syntax);
  return { ...(user !== undefined && { user }), ...(group !== undefined && { group }) };
}

function askedId(text: string, syntax: UserSyntax): AskedId | undefined {
  if (text.includes('$')) return { text, id: text, isVariable: true, invalid: false };
  // Both executors leave an empty part to the image.
  if (text === '') return undefined;
  const name = syntax === 'docker' ? text.trim() : text;
  // Both take `+0` and `-0` for root.
  if (/^[+-]?\d+$/.test(name)) {
    const number = Number(name);
    return { text, id: String(number), isVariable: false, invalid: number < 0 || number > ID_MAX };
  }
  return { text, id: name === 'root' ? '0' : name, isVariable: false, invalid: syntax === 'kubernetes' };
}

export interface ContainerUserReason {
  readonly code: 'CONTAINER_USER_NOT_ALLOWED';
  readonly part: 'user' | 'group';
  /** As written, e.g. `0`, `root`, `$USER_ID`; empty: none, where one must be named. */
  readonly asked: string;
  /** The executor for which no user is named. */
  readonly executor?: UserSyntax;
  /** Empty: any but root. */
  readonly allowed: readonly string[];
  /** Not a number, where Kubernetes needs one. */
  readonly invalid?: true;
  readonly service?: string;
}

const ASKED_CHARACTERS_MAX = 30;
const SERVICE_CHARACTERS_MAX = 30;
const LINE_SERVICE_CHARACTERS_MAX = 150;

/** The user or group a container runs as. */
export const containerUserNotAllowed: ReasonText<ContainerUserReason> = {
  headline: (reason) => headline(reason),
  discreetHeadline: (reason) => headline(reason),
  line: ({ part, asked, allowed, invalid, service }) => {
    const whose =
      service === undefined ? 'of the job' : `of service ${quoted(service, LINE_SERVICE_CHARACTERS_MAX)}`;
    const named =
      asked === ''
        ? `no container ${part} ${whose}`
        : `container ${part} ${quoted(asked, ASKED_CHARACTERS_MAX)} ${whose}`;
    if (invalid) return `${named}: not a number`;
    return `${named}; allowed: ${allowed.length === 0 ? 'any but root' : listText(allowed, 'or')}`;
  },
  advice: (reason, context) => [`Retrying will fail again. ${remedy(reason, context)}`],
  faultless: false,
};

function headline({ part, asked, invalid, service }: ContainerUserReason): string {
  const who = service === undefined ? 'The container' : `Service ${quoted(service, SERVICE_CHARACTERS_MAX)}`;
  if (asked === '') return `${who} has to name the ${part} it runs as here.`;
  const named = `${part} ${quoted(asked, ASKED_CHARACTERS_MAX)}`;
  return invalid
    ? `${who} asks for ${named}; only a number is allowed here.`
    : `${who} may not run as ${named} here.`;
}

function remedy(
  { part, allowed, invalid, service, executor }: ContainerUserReason,
  { disclosure }: AdviceContext,
): string {
  const user = part === 'user' ? '"user"' : 'the group in "user" (uid:gid)';
  const under = executor === undefined ? '"image:kubernetes" or "image:docker"' : `"image:${executor}"`;
  const where = service !== undefined ? serviceText(executor) : `under ${under}`;
  if (invalid) return `Write ${user} ${where} as a number, without a name or a variable.`;
  if (disclosure === 'none') return `${executor === undefined ? 'Change' : 'Set'} ${user} ${where}.`;
  return `Set ${user} ${where} to ${allowed.length === 0 ? 'anything but root (0)' : listText(allowed, 'or')}.`;
}

const serviceText = (executor: ContainerUserReason['executor']): string =>
  executor === undefined ? 'of the service' : `under "${executor}" of the service`;
