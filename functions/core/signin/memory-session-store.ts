import type { Session, SessionStore } from './session-store.ts';

/** Enough for a local run; with more, the oldest are signed out. */
const KEPT_MAX = 10_000;

/** Sessions of one process, for tests and local runs. */
export function memorySessionStore(): SessionStore {
  const sessions = new Map<string, Session>();
  return {
    async create(idHash, session) {
      const [oldest] = sessions.keys();
      if (sessions.size >= KEPT_MAX && oldest !== undefined) sessions.delete(oldest);
      sessions.set(idHash, session);
    },
    async read(idHash) {
      return sessions.get(idHash);
    },
    async change(idHash, change) {
      const session = sessions.get(idHash);
      if (session === undefined) return false;
      sessions.set(idHash, { ...session, ...change });
      return true;
    },
    async remove(idHash) {
      sessions.delete(idHash);
    },
  };
}
