import type { Reading } from '../../document/reading.ts';
import { readRequired } from '../required.ts';
import type { Check, StatelessRuleKind } from '../rule-kind.ts';
import type { ContainerUserReason } from './container-user-text.ts';
import { type AskedId, type ContainerUser, readContainerUser, type UserSyntax } from './user-syntax.ts';

const EXECUTORS: readonly UserSyntax[] = ['kubernetes', 'docker'];
const IDS_MAX = 1_000;
/** As many as fit on a line. */
const ALLOWED_TOLD_MAX = 10;
/** A job with more wrong containers than this has been told enough. */
const REASONS_MAX = 5;
const ROOT = '0';

/**
 * As whom a job's containers may run: `image:kubernetes:user` and `image:docker:user` of the job and of its services
 * against `users` and `groups`, as the runner's `allowed_users` and `allowed_groups`.
 *
 * - Kubernetes: `uid` or `uid:gid`, whole numbers from 0, or a part left empty; anything else is refused.
 * - Docker: names or ids, perhaps with a group. The rule compares texts: which id a name has is the image's business.
 * - Root (id 0, `00` too, or the name `root`) only where it is listed, as `0` or `root`. An empty list: any but root.
 * - Where a `$VARIABLE` is left, it is not known who it will be: nothing that is listed allows it.
 * - `executors` names whose user counts; a job may give one for each and we are not told which executor it meets.
 *   Both by default.
 *
 * A container that names no user runs as the image's own, which often is root, or as the runner's security context says.
 * It passes, as with the runner, unless `required: true`: then each container has to name one for every executor that
 * counts. GitLab's wire format cannot tell "none" from "not sent", so a version that does not send users looks the same,
 * and `on_missing` has nothing to decide.
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
