const RETRYABLE = {
  config_invalid: false,
  schema_invalid: false,
  wire_invalid: false,
  token_unreadable: true,
  router_unavailable: true,
  router_refused: true,
  admit_unreachable: true,
  admit_throttled: true,
  admit_refused: false,
} as const;

type RelayErrorCode = keyof typeof RETRYABLE;

/** What can go wrong in the relay. The code leads the message; rejections of jobs are never errors. */
export class RelayError extends Error {
  override readonly name = 'RelayError';
  readonly code: RelayErrorCode;
  constructor(code: RelayErrorCode, message: string, options?: ErrorOptions) {
    super(`[${code}] ${message}`, options);
    this.code = code;
  }
  get retryable(): boolean {
    return RETRYABLE[this.code];
  }
}
