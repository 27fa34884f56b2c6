/** What people are told once, however often it happens. */
import type { LedgerClock } from '../environment/index.ts';
import { type Item, LedgerError, type LedgerKeys, PK, SK, TTL_ATTRIBUTE, versioned } from '../store/index.ts';
import type { Announcement, LedgerStore } from './store.ts';

interface AnnounceOptions {
  /** How long it is not said again. */
  readonly ttlMs: number;
  readonly timeoutMs: number;
}

interface AnnounceDeps {
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

/** Two keys, the version and a time: DynamoDB removes it when that has passed, hours late at worst. */
export function announcementItem(announcement: Announcement, keys: LedgerKeys): Item {
  const { pk, sk } = keys.announcement(announcement.key);
  return {
    [PK]: { S: pk },
    [SK]: { S: sk },
    ...versioned,
    [TTL_ATTRIBUTE]: { N: String(seconds(announcement.untilMs)) },
  };
}

export const seconds = (ms: number): number => Math.ceil(ms / 1000);
