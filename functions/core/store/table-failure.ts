/** What DynamoDB raises, by its names: whoever asks for it need not load the client. */
import { LedgerError } from './ledger-error.ts';

/** Somebody else holds an item, or our own earlier attempt with this token is still under way. */
const CONFLICTS: ReadonlySet<string> = new Set([
  'TransactionConflictException',
  'TransactionInProgressException',
]);
const THROTTLES: ReadonlySet<string> = new Set([
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
]);

export const isConflict = (error: unknown): boolean => error instanceof Error && CONFLICTS.has(error.name);
export const isThrottle = (error: unknown): boolean => error instanceof Error && THROTTLES.has(error.name);

/**
 * Why a call failed, as text. The client's own errors carry the whole request, its signature included: only their name and
 * text go on.
 */
export const failureText = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);

/** An error of the caller's folder, from what could not be done and why: `read the pointer of`. */
export type TableFailure = (doing: string, why: string, error: unknown) => Error;

/** @throws {Error} what `failure` makes of anything that `call` throws. */
export async function answered<T>(doing: string, failure: TableFailure, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw failure(doing, failureText(error), error);
  }
}

/** For what lies beside the books. @returns {LedgerError} `ledger_unavailable`, naming the table and why. */
export const unavailable =
  ({ tableName }: { readonly tableName: string }): TableFailure =>
  (doing, why) =>
    new LedgerError('ledger_unavailable', `could not ${doing} in ${tableName} (${why})`);
