import type { Reading } from '../document/reading.ts';
import type { AdmissionRequest } from '../request/request.ts';
import { listText, quoted } from '../text/plain-text.ts';
import type { ReasonText } from '../text/reason-text.ts';
import type { StatelessRuleKind } from './rule-kind.ts';

const EXECUTORS = ['kubernetes', 'docker'] as const;
type Executor = (typeof EXECUTORS)[number];
const IDS_MAX = 1_000;
const ALLOWED_MAX = 10;
const REASONS_MAX = 5;
const ROOT = '0';
/** Kubernetes and Docker both end here; beyond it a number might wrap to root. */
const ID_MAX = 2 ** 31 - 1;

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
  read(reading) {
    const parts = {
      user: readIds(reading.at('users'), 'users'),
      group: readIds(reading.at('groups'), 'groups'),
    };
    const list = reading.at('executors');
    list.refuseEmpty(`is empty; leave it out or list some of ${EXECUTORS.join(', ')}`);
    const named = list.each('executors', EXECUTORS.length, (each) => each.oneOf('an executor', EXECUTORS));
    const executors = list.isThere ? named : EXECUTORS;
    const required = reading.flag('required');

    return ({ request }) =>
      [request, ...(request.services ?? [])]
        .flatMap((container) => reasonsFor(container, 'name' in container ? container.name : undefined))
        .slice(0, REASONS_MAX);

    function reasonsFor(
      container: Pick<AdmissionRequest, 'kubernetesUser' | 'dockerUser'>,
      service: string | undefined,
    ): readonly ContainerUserReason[] {
      return executors.flatMap((executor) => {
        const text = executor === 'kubernetes' ? container.kubernetesUser : container.dockerUser;
        if (text === undefined && !required) return [];
        const [user = '', group = '', ...more] = text?.split(':') ?? [];
        const judge = (part: 'user' | 'group', asked: string): readonly ContainerUserReason[] => {
          const isMissing = asked === '' && part === 'user' && required;
          // Both executors leave an empty part to the image.
          if (asked === '' && !isMissing) return [];
          const { listed, ids } = parts[part];
          const invalid = !isMissing && (more.length > 0 || isInvalid(asked, executor));
          const id = normalizeId(asked, executor);
          const isAllowed = ids.size === 0 ? id !== ROOT : ids.has(id);
          if (!isMissing && !asked.includes('$') && !invalid && isAllowed) return [];
          return [
            {
              ...{ code: 'CONTAINER_USER_NOT_ALLOWED', part, asked },
              allowed: listed.slice(0, ALLOWED_MAX),
              ...(service !== undefined && { service }),
              ...(invalid && { invalid }),
            },
          ];
        };
        return more.length > 0
          ? judge('user', text ?? '')
          : [...judge('user', user), ...judge('group', group)];
      });
    }
  },
};

/** YAML reads `1000` as a number and `"1000"` as a text; both are meant. `1000:1001` would be a user and a group. */
function readIds(reading: Reading, what: string) {
  const listed = reading
    .each(`${what}, by id or name`, IDS_MAX, (each) =>
      typeof each.value === 'number'
        ? each.integer('an id from 0', 0)
        : each.text('one id such as "1000", or one name', (text) => text.trim() !== '' && !/[:$]/.test(text)),
    )
    .map(String);
  return { listed, ids: new Set(listed.map((each) => normalizeId(each, 'docker'))) };
}

/** For comparing: `007` is `7`, `+0` and `root` are `0`. */
function normalizeId(text: string, executor: Executor): string {
  const name = executor === 'docker' ? text.trim() : text;
  if (/^[+-]?\d+$/.test(name)) return String(Number(name) + 0);
  return name === 'root' ? ROOT : name;
}

function isInvalid(text: string, executor: Executor): boolean {
  if (text.includes('$')) return false;
  const id = normalizeId(text, executor);
  return /^-?\d+$/.test(id) ? Number(id) < 0 || Number(id) > ID_MAX : executor === 'kubernetes';
}

export interface ContainerUserReason {
  readonly code: 'CONTAINER_USER_NOT_ALLOWED';
  readonly part: 'user' | 'group';
  readonly asked: string;
  readonly allowed: readonly string[];
  readonly invalid?: true;
  readonly service?: string;
}

const NAME_CHARACTERS_MAX = 30;

const allowedText = (allowed: readonly string[]): string =>
  allowed.length === 0 ? 'any but root (0)' : listText(allowed, 'or');

export const containerUserNotAllowed: ReasonText<ContainerUserReason> = {
  headline: ({ part, asked, invalid, service }) => {
    const who = service === undefined ? 'The container' : `Service ${quoted(service, NAME_CHARACTERS_MAX)}`;
    if (asked === '') return `${who} has to name the ${part} it runs as here.`;
    const number = invalid ? ': only a number is allowed' : '';
    return `${who} may not run as ${part} ${quoted(asked, NAME_CHARACTERS_MAX)} here${number}.`;
  },
  line: ({ part, asked, allowed, service }) => {
    const whose = service === undefined ? 'the job' : `service ${quoted(service, 150)}`;
    const named = asked === '' ? 'not named' : quoted(asked, NAME_CHARACTERS_MAX);
    return `container ${part} of ${whose}: ${named}; allowed: ${allowedText(allowed)}`;
  },
  advice: ({ part, allowed, invalid, service }, { disclosure }) => {
    const key = part === 'user' ? '"user"' : 'the group in "user" (uid:gid)';
    const where = service === undefined ? 'under "image:kubernetes" or "image:docker"' : 'of the service';
    const to = disclosure === 'none' ? '' : ` to ${allowedText(allowed)}`;
    return [
      invalid
        ? `Retrying will fail again. Write ${key} ${where} as a number, without a name or a variable.`
        : `Retrying will fail again. Set ${key} ${where}${to}.`,
    ];
  },
};
