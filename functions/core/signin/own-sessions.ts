/** Lists a user's own sessions, and ends them. */
import type { SessionStore } from './session-store.ts';
import { isOver, SESSION_MS } from './sessions.ts';
import type { User } from './user.ts';

export interface OwnSessionRow {
  /** Names it in a form; it opens nothing, and is only good for its own user. */
  readonly handle: string;
  /** Signed in from a terminal; else from a browser. */
  readonly isTerminal: boolean;
  /** The one that asks. */
  readonly isThis: boolean;
  readonly beganAgoMs: number;
  /** A minute exact. */
  readonly seenAgoMs: number;
}

/** `others`: all but the one that asks; else a handle. */
type SessionsToEnd = 'all' | 'others' | { readonly handle: string };

type Asking = Pick<User, 'id' | 'sessionId'>;

export interface OwnSessions {
  /** The one that asks first, then by when they were seen. @throws {SignInError} `sessions_unavailable`, like both. */
  list(user: Asking): Promise<readonly OwnSessionRow[]>;
  /** Returns the number of ended sessions. */
  end(user: Asking, which: SessionsToEnd): Promise<number>;
}

const HANDLE_CHARACTERS = 16;

export function ownSessions(
  store: Pick<SessionStore, 'ofUser' | 'remove'>,
  clock: { nowMs(): number },
): OwnSessions {
  const handleOf = (idHash: string): string => idHash.slice(0, HANDLE_CHARACTERS);
  const live = async ({ id }: Asking) => {
    const nowMs = clock.nowMs();
    return (await store.ofUser(id)).filter(({ session }) => !isOver(session, nowMs));
  };
  return {
    async list(user) {
      const nowMs = clock.nowMs();
      const rows = (await live(user)).map(({ idHash, session }): OwnSessionRow => {
        const beganAgoMs = nowMs - (session.endsAtMs - SESSION_MS);
        return {
          handle: handleOf(idHash),
          isTerminal: session.terminal === true,
          isThis: idHash === user.sessionId,
          beganAgoMs: Math.max(0, beganAgoMs),
          seenAgoMs: Math.max(0, nowMs - session.seenAtMs),
        };
      });
      return rows.sort((a, b) => Number(b.isThis) - Number(a.isThis) || a.seenAgoMs - b.seenAgoMs);
    },
    async end(user, which) {
      const ending = (await live(user)).filter(({ idHash }) => {
        if (which === 'all') return true;
        return which === 'others' ? idHash !== user.sessionId : handleOf(idHash) === which.handle;
      });
      await Promise.all(ending.map(({ idHash }) => store.remove(idHash)));
      return ending.length;
    },
  };
}
