import { LedgerError } from '../ledger/ledger-error.ts';

/** Makes one call of the table; `doing` says what of, for whoever reads that it failed: `read the heartbeats`. */
export type TableCall = <T>(doing: string, call: (abortSignal: AbortSignal) => Promise<T>) => Promise<T>;

/**
 * Calls of a table with a timeout, for stores of single items that retry nothing.
 *
 * @returns a call that throws {LedgerError} `ledger_unavailable`, naming the table and why.
 */
export const tableCalls =
  (tableName: string, timeoutMs: number): TableCall =>
  async (doing, call) => {
    try {
      return await call(AbortSignal.timeout(timeoutMs));
    } catch (error) {
      const why = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      throw new LedgerError('ledger_unavailable', `could not ${doing} in ${tableName} (${why})`, {
        cause: error,
      });
    }
  };
