import { userInfo } from 'node:os';
import { UsageError } from '../../terminal/command.ts';

const WHY_CHARACTERS_MAX = 500;
const ACTOR_CHARACTERS_MAX = 200;

/** Author and reason for the change log. */
interface WhoAndWhy {
  readonly actor: string;
  readonly why: string;
}

/** @throws {UsageError} if one is missing or too long. */
export function whoAndWhy(
  flags: { readonly actor?: string | undefined; readonly why?: string | undefined },
  userName: () => string | undefined,
): WhoAndWhy {
  const why = flags.why?.trim() ?? '';
  if (why === '' || why.length > WHY_CHARACTERS_MAX) {
    throw new UsageError(
      `--why: expected the reason of this change, in at most ${WHY_CHARACTERS_MAX} characters`,
    );
  }
  const actor = (flags.actor ?? userName() ?? '').trim();
  if (actor === '' || actor.length > ACTOR_CHARACTERS_MAX) {
    throw new UsageError(`--actor: expected who changes them, in at most ${ACTOR_CHARACTERS_MAX} characters`);
  }
  return { actor, why };
}

/** The process's user name; undefined in containers without one. */
export function osUserName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}
