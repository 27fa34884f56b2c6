import { listText } from '../list-text.ts';
import { quoted } from '../plain-text.ts';
import type { AdviceContext, ReasonText, Told } from '../reason-text.ts';

const ASKED_CHARACTERS_MAX = 30;
const SERVICE_CHARACTERS_MAX = 30;
const LINE_SERVICE_CHARACTERS_MAX = 150;

type User = Told<'CONTAINER_USER_NOT_ALLOWED'>;

/** The user or group a container runs as. */
export const containerUserNotAllowed: ReasonText<User> = {
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

function headline({ part, asked, invalid, service }: User): string {
  const who = service === undefined ? 'The container' : `Service ${quoted(service, SERVICE_CHARACTERS_MAX)}`;
  if (asked === '') return `${who} has to name the ${part} it runs as here.`;
  const named = `${part} ${quoted(asked, ASKED_CHARACTERS_MAX)}`;
  return invalid
    ? `${who} asks for ${named}; only a number is allowed here.`
    : `${who} may not run as ${named} here.`;
}

function remedy({ part, allowed, invalid, service, executor }: User, { disclosure }: AdviceContext): string {
  const user = part === 'user' ? '"user"' : 'the group in "user" (uid:gid)';
  const under = executor === undefined ? '"image:kubernetes" or "image:docker"' : `"image:${executor}"`;
  const where = service !== undefined ? serviceText(executor) : `under ${under}`;
  if (invalid) return `Write ${user} ${where} as a number, without a name or a variable.`;
  if (disclosure === 'none') return `${executor === undefined ? 'Change' : 'Set'} ${user} ${where}.`;
  return `Set ${user} ${where} to ${allowed.length === 0 ? 'anything but root (0)' : listText(allowed, 'or')}.`;
}

const serviceText = (executor: User['executor']): string =>
  executor === undefined ? 'of the service' : `under "${executor}" of the service`;
