import { keepLatest } from '../../../policies/keep-latest.ts';

/** Sessions this process has verified. Rate limits of their address do not apply to them. */
interface KnownSessions {
  has(idHash: string): boolean;
  add(idHash: string): void;
  remove(idHash: string): void;
}

/** Some 1 MB. Who is forgotten beyond it is known again with the next request. */
const SESSIONS_MAX = 10_000;

export function knownSessions(): KnownSessions {
  const known = new Map<string, true>();
  return {
    has: (idHash) => known.has(idHash),
    add(idHash) {
      keepLatest(known, idHash, true, SESSIONS_MAX);
    },
    remove(idHash) {
      known.delete(idHash);
    },
  };
}
