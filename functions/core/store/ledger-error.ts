import { codedError } from '../../../policies/coded-error.ts';

export class LedgerError extends codedError('LedgerError', {
  /** The table gave no answer we can use; the write may or may not have happened. */
  ledger_unavailable: true,
  /** A caller passed what no retry will make right. */
  ledger_misuse: false,
  /** The table has books of other GitLabs, and none of the one this program is told. */
  foreign_books: false,
}) {}
