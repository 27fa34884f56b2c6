const SPECS = {
  /** An unexpected callback: too late, another browser, a second time. */
  sign_in_expired: { status: 400, retryable: true },
  /** GitLab says no: the user declined, or the application is not set up for this. */
  sign_in_denied: { status: 403, retryable: true },
  /** GitLab's answer does not hold: code, nonce, signature, issuer or time. */
  sign_in_invalid: { status: 400, retryable: true },
  /** GitLab knows no such active user, or has no end of groups for them. */
  user_refused: { status: 403, retryable: false },
  /** Sign-in from terminals is not set up. */
  no_device_sign_in: { status: 404, retryable: false },
  /** A job's id_token that does not hold: signature, audience, issuer, time or what it says. */
  job_token_invalid: { status: 401, retryable: false },
  /** It holds, and its job runs code of another project. */
  job_of_fork: { status: 403, retryable: false },
  /** GitLab, or what is needed to ask it, is out of reach or not set up. */
  gitlab_unavailable: { status: 503, retryable: true },
  /** The table of sessions gave no answer we can use. */
  sessions_unavailable: { status: 503, retryable: true },
} as const;

type SignInErrorCode = keyof typeof SPECS;

/** A sign-in that did not come about. Names no token, code, secret or cookie, and neither does what it was caused by. */
export class SignInError extends Error {
  override readonly name = 'SignInError';
  readonly code: SignInErrorCode;
  /** The remedy for the user, in a sentence. */
  readonly remedy: string;

  constructor(code: SignInErrorCode, message: string, remedy: string) {
    super(`[${code}] ${message}`);
    this.code = code;
    this.remedy = remedy;
  }

  /** The message without its code. */
  get sentence(): string {
    return this.message.slice(this.code.length + 3);
  }

  get status(): (typeof SPECS)[SignInErrorCode]['status'] {
    return SPECS[this.code].status;
  }

  get retryable(): boolean {
    return SPECS[this.code].retryable;
  }
}

/** A user's rights. Groups are ids; each includes everything below it. */
export interface Roles {
  readonly admin: boolean;
  readonly finance: boolean;
  readonly ownedGroupIds: readonly number[];
  /** The owned ones are among them. */
  readonly viewerGroupIds: readonly number[];
  /** A CI job of this project, and no person: it sees that project, and is nothing else of the above. */
  readonly jobOfProjectId?: number;
}

/** The signed-in user of one request. */
export interface User {
  /** GitLab's id of the user; 0 of a job. */
  readonly id: number;
  readonly username: string;
  readonly name: string;
  /** At most 15 minutes behind GitLab. */
  readonly roles: Roles;
  /** Names the session in logs and counts. It opens nothing, because it is the hash of the cookie's id. */
  readonly sessionId: string;
  /** Goes into every form as `csrf`, and into calls of the API as `x-csrf-token`. */
  readonly csrfToken: string;
}

/** Set by `requireUser` in Hono's context: `c.var.user`. */
export interface SignInEnv {
  Variables: { user: User };
}

/** A user as GitLab has them now. */
export interface Account {
  readonly username: string;
  readonly name: string;
  readonly roles: Roles;
}

export interface RoleSource {
  /**
   * `undefined`: GitLab knows no such user, or they are blocked or deactivated.
   *
   * @param userId - GitLab's id.
   * @throws {SignInError} `gitlab_unavailable`: no answer; `user_refused`: more groups than a session can carry.
   */
  read(userId: number): Promise<Account | undefined>;
}

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
