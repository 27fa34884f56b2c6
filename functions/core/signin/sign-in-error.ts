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
