import { listText, quoted } from '../../text/plain-text.ts';
import type { AdviceContext, ReasonText } from '../../text/reason-text.ts';
import type { UserSyntax } from './user-syntax.ts';

export interface ContainerUserReason {
  readonly code: 'CONTAINER_USER_NOT_ALLOWED';
  readonly part: 'user' | 'group';
  /** As written, e.g. `0`, `root`, `$USER_ID`; empty: none, where one must be named. */
  readonly asked: string;
  /** For whom none is named. */
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
