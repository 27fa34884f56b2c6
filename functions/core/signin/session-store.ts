import type { Roles } from './user.ts';

/** A stored session. It contains no GitLab token, because none is needed after the sign-in. */
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
  /** From a terminal, where idle times are normal. */
  readonly terminal?: true;
}

/** Fields of a session that change. */
export type SessionChange = Partial<Omit<Session, 'userId' | 'endsAtMs' | 'terminal'>>;

/** A session under its hash. */
interface KeptSession {
  readonly idHash: string;
  readonly session: Session;
}

/**
 * Stores sessions by the hash of the cookie's id, so that readers of the table cannot sign in. Ended
 * sessions may still exist; readers compare `endsAtMs`. The table encrypts at rest.
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
