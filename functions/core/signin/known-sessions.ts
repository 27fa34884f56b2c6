/** Sessions this process has seen alive: whoever has one is asked nothing because of what others behind their address send. */
export interface KnownSessions {
  has(idHash: string): boolean;
  add(idHash: string): void;
  remove(idHash: string): void;
}

/** Some 1 MB. Beyond it all are forgotten, and known again with their next request. */
const SESSIONS_MAX = 10_000;

export function knownSessions(): KnownSessions {
  const known = new Set<string>();
  return {
    has: (idHash) => known.has(idHash),
    add(idHash) {
      if (known.size >= SESSIONS_MAX && !known.has(idHash)) known.clear();
      known.add(idHash);
    },
    remove(idHash) {
      known.delete(idHash);
    },
  };
}
