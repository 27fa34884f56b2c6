/** What people are told once, however often it happens. */
import type { LedgerClock } from '../environment/clock.ts';
import { LedgerError } from '../store/ledger-error.ts';
import type { LedgerStore } from './store.ts';

export interface AnnounceOptions {
  /** How long it is not said again. */
  readonly ttlMs: number;
  readonly timeoutMs: number;
}

export interface AnnounceDeps {
  readonly store: LedgerStore;
  readonly clock: LedgerClock;
}

/**
 * One per key, same order: true for whoever says it first. Where the table does not answer it is true: better told
 * twice than never.
 */
export async function announceOnce(
  keys: readonly string[],
  { ttlMs, timeoutMs }: AnnounceOptions,
  { store, clock }: AnnounceDeps,
): Promise<readonly boolean[]> {
  const atMs = clock.nowMs();
  const distinct = [...new Set(keys)];
  const answers = await Promise.all(
    distinct.map((key) =>
      store.announce({ key, atMs, untilMs: atMs + ttlMs }, { timeoutMs }).catch(toldRatherTwice),
    ),
  );
  const first = new Map(distinct.map((key, index) => [key, answers[index] ?? true]));
  return keys.map((key) => {
    const mine = first.get(key) ?? true;
    first.set(key, false);
    return mine;
  });
}

function toldRatherTwice(error: unknown): true {
  if (error instanceof LedgerError) return true;
  throw error;
}
