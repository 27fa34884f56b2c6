import type { PendingSignIn, Session, SessionStore } from './session-store.ts';

/** Enough for a local run; with more, the oldest are signed out. */
const KEPT_MAX = 10_000;

/** Sessions of one process, for tests and local runs. */
export function memorySessionStore(): SessionStore {
  const sessions = new Map<string, Session>();
  const pending = new Map<string, PendingSignIn>();
  return {
    async create(idHash, session) {
      put(sessions, idHash, session);
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
    async putPending(hash, one) {
      put(pending, hash, one);
    },
    async takePending(hash) {
      const one = pending.get(hash);
      pending.delete(hash);
      return one;
    },
  };
}

function put<T>(map: Map<string, T>, key: string, value: T): void {
  const [oldest] = map.keys();
  if (map.size >= KEPT_MAX && oldest !== undefined) map.delete(oldest);
  map.set(key, value);
}
