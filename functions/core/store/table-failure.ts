import { codedError } from '../../../policies/coded-error.ts';

export class LedgerError extends codedError('LedgerError', {
  /** The table gave no answer we can use; the write may or may not have happened. */
  ledger_unavailable: true,
  /** A caller passed what no retry will make right. */
  ledger_misuse: false,
  /** The table has data of other GitLab instances and none of the configured one. */
  foreign_books: false,
}) {}

/** For `catch`: undefined if the table does not answer. */
export function undefinedIfSilent(error: unknown): undefined {
  if (!(error instanceof LedgerError && error.retryable)) throw error;
}

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

/** Name and text only: the client's own errors carry the whole request, its signature included. */
export const failureText = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);

export type TableFailure = (doing: string, why: string, error: unknown) => Error;

export async function answered<T>(doing: string, failure: TableFailure, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw failure(doing, failureText(error), error);
  }
}

/** For items outside the ledger. */
export const unavailable =
  ({ tableName }: { readonly tableName: string }): TableFailure =>
  (doing, why) =>
    new LedgerError('ledger_unavailable', `could not ${doing} in ${tableName} (${why})`);

export interface Retries {
  readonly clock: { sleep(delayMs: number): Promise<void> };
  readonly random: () => number;
  readonly triesMax: number;
  /** The longest pause after this number of tries; a random part of it is waited, so that rivals do not meet again. */
  readonly pauseMsMax: (tries: number) => number;
  readonly isTimeFor?: (pauseMs: number) => boolean;
}

/** Tries again while the answer is one to try again for; the last answer is the answer. */
export async function retried<T>(
  attempt: () => Promise<T>,
  isAgain: (answer: T) => boolean,
  { clock, random, triesMax, pauseMsMax, isTimeFor = () => true }: Retries,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const answer = await attempt();
    if (tries >= triesMax || !isAgain(answer)) return answer;
    const pauseMs = random() * pauseMsMax(tries);
    if (!isTimeFor(pauseMs)) return answer;
    await clock.sleep(pauseMs);
  }
}

export const doubling =
  (msMin: number, msMax: number) =>
  (tries: number): number =>
    Math.min(msMax, msMin * 2 ** tries);
