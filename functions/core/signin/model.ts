const STATUS = {
  /** An unexpected callback: too late, another browser, a second time. */
  sign_in_expired: 400,
  /** GitLab says no: the user declined, or the application is not set up for this. */
  sign_in_denied: 403,
  /** GitLab's answer does not hold: code, nonce, signature, issuer or time. */
  sign_in_invalid: 400,
  /** GitLab knows no such active user, or has no end of groups for them. */
  user_refused: 403,
  no_device_sign_in: 404,
  /** A job's id_token that does not hold: signature, audience, issuer, time or claims. */
  job_token_invalid: 401,
  job_of_fork: 403,
  gitlab_unavailable: 503,
  sessions_unavailable: 503,
} as const;

type SignInErrorCode = keyof typeof STATUS;

/** Names no token, code, secret or cookie, and has no cause that could. */
export class SignInError extends Error {
  override readonly name = 'SignInError';
  readonly code: SignInErrorCode;
  readonly remedy: string;

  constructor(code: SignInErrorCode, message: string, remedy: string) {
    super(`[${code}] ${message}`);
    this.code = code;
    this.remedy = remedy;
  }

  get sentence(): string {
    return this.message.slice(this.code.length + 3);
  }

  get status(): (typeof STATUS)[SignInErrorCode] {
    return STATUS[this.code];
  }
}

/** A user's rights. Groups are ids; each includes everything below it. */
export interface Roles {
  readonly admin: boolean;
  readonly finance: boolean;
  readonly ownedGroupIds: readonly number[];
  readonly viewerGroupIds: readonly number[];
  /** A CI job of this project, and no person: it sees that project, and is nothing else of the above. */
  readonly jobOfProjectId?: number;
}

export interface Account {
  readonly username: string;
  readonly name: string;
  /** At most 15 minutes behind GitLab. */
  readonly roles: Roles;
}

export interface User extends Account {
  readonly id: number;
  /** Names the session in logs and counts. It opens nothing, because it is the hash of the cookie's id. */
  readonly sessionId: string;
  /** Goes into every form as `csrf`, and into calls of the API as `x-csrf-token`. */
  readonly csrfToken: string;
}

export interface SignInEnv {
  Variables: { user: User };
}

export interface RoleSource {
  /** Undefined: unknown, blocked or deactivated. @throws {SignInError} `gitlab_unavailable`, `user_refused`: too many groups. */
  read(userId: number): Promise<Account | undefined>;
}

/** A stored session. It contains no GitLab token, because none is needed after the sign-in. */
export interface Session extends Account {
  readonly userId: number;
  readonly rolesReadAtMs: number;
  readonly seenAtMs: number;
  readonly endsAtMs: number;
  readonly terminal?: true;
}
