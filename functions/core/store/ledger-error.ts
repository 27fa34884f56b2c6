const RETRYABLE = { ledger_unavailable: true, ledger_misuse: false, foreign_books: false } as const;

type LedgerErrorCode = keyof typeof RETRYABLE;

/**
 * `ledger_unavailable`: the table gave no answer we can use; the write may or may not have happened.
 * `ledger_misuse`: a caller passed what no retry will make right.
 * `foreign_books`: the table has books of other GitLabs, and none of the one this program is told.
 */
export class LedgerError extends Error {
  override readonly name = 'LedgerError';
  readonly code: LedgerErrorCode;

  constructor(code: LedgerErrorCode, message: string, options?: ErrorOptions) {
    super(`[${code}] ${message}`, options);
    this.code = code;
  }

  get retryable(): boolean {
    return RETRYABLE[this.code];
  }
}
