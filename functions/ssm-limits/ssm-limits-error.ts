const RETRYABLE = {
  parameters_throttled: true,
  parameters_unavailable: true,
  parameters_misread: false,
  marks_unavailable: true,
} as const;

export type SsmLimitsErrorCode = keyof typeof RETRYABLE;

/**
 * `parameters_throttled`: Parameter Store asks to be asked later. `parameters_unavailable`: it did not answer.
 * `parameters_misread`: it refuses the question; a page token it gave earlier may be too old.
 * `marks_unavailable`: the table did not answer; a mark may be written or not.
 */
export class SsmLimitsError extends Error {
  override readonly name = 'SsmLimitsError';
  readonly code: SsmLimitsErrorCode;

  constructor(code: SsmLimitsErrorCode, message: string, options?: ErrorOptions) {
    super(`[${code}] ${message}`, options);
    this.code = code;
  }

  get retryable(): boolean {
    return RETRYABLE[this.code];
  }
}
