import type { Roles } from './user.ts';

/** Who is signed in, as it is kept. No token of GitLab's is among it: none is needed after the sign-in. */
export interface Session {
  readonly userId: number;
  readonly username: string;
  readonly name: string;
  readonly roles: Roles;
  /** All Unix ms. */
  readonly rolesReadAtMs: number;
  readonly seenAtMs: number;
  /** Ends it, however busy it is. */
  readonly endsAtMs: number;
  /** Signed in from a terminal, where nobody is idle between two commands. */
  readonly terminal?: true;
}

/** What of a session changes while it lasts. */
export type SessionChange = Partial<Omit<Session, 'userId' | 'endsAtMs' | 'terminal'>>;

/** A session under its hash. */
interface KeptSession {
  readonly idHash: string;
  readonly session: Session;
}

/**
 * Sessions, by the hash of the id in the cookie: who reads the table can sign in as nobody. What has ended may still be
 * there; whoever reads compares `endsAtMs`. Encryption at rest is the table's.
 */
export interface SessionStore {
  /** @throws {SignInError} `sessions_unavailable`, like all of these. */
  create(idHash: string, session: Session): Promise<void>;
  read(idHash: string): Promise<Session | undefined>;
  /** False: there is none any more, and none came back by it. */
  change(idHash: string, change: SessionChange): Promise<boolean>;
  remove(idHash: string): Promise<void>;
  /** Those of a user, the last hundred; some may have ended. */
  ofUser(userId: number): Promise<readonly KeptSession[]>;
}
