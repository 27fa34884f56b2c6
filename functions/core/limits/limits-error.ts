const RETRYABLE = { limits_unavailable: true, limits_unreadable: false } as const;

type LimitsErrorCode = keyof typeof RETRYABLE;

/**
 * `limits_unavailable`: the table gave no answer we can use; a write may or may not have happened.
 * `limits_unreadable`: what is stored is not what was written, or no longer fits the policy.
 */
export class LimitsError extends Error {
  override readonly name = 'LimitsError';
  readonly code: LimitsErrorCode;

  constructor(code: LimitsErrorCode, message: string, options?: ErrorOptions) {
    super(`[${code}] ${message}`, options);
    this.code = code;
  }

  get retryable(): boolean {
    return RETRYABLE[this.code];
  }
}
