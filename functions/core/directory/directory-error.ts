const RETRYABLE = { directory_unavailable: true, directory_unreadable: false } as const;

type DirectoryErrorCode = keyof typeof RETRYABLE;

/**
 * `directory_unavailable`: the table gave no answer we can use; a write may or may not have happened.
 * `directory_unreadable`: what is stored is not what was written.
 */
export class DirectoryError extends Error {
  override readonly name = 'DirectoryError';
  readonly code: DirectoryErrorCode;

  constructor(code: DirectoryErrorCode, message: string, options?: ErrorOptions) {
    super(`[${code}] ${message}`, options);
    this.code = code;
  }

  get retryable(): boolean {
    return RETRYABLE[this.code];
  }
}
