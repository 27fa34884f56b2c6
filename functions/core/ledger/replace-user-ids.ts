/** Puts pseudonyms for users into what is kept about jobs, some at a time. Nothing that counts changes. */

import { atOnce, type LedgerClock } from '../environment/index.ts';
import type { JobRecord } from './ledger.ts';
import { type PseudonymKeys, pseudonymOf, yearOf } from './pseudonym-keys.ts';
import type { LedgerStore, RewriteStore } from './store.ts';
import { type KeptJob, nameless, namesNeedlessly, userIdsIn } from './user-ids.ts';

const TIMEOUT_MS = 5_000;
/** One read of the table. */
const PAGE = 100;
const AT_ONCE = 10;

interface ReplaceUserIdsDeps {
  readonly store: Pick<LedgerStore, 'readRecords' | 'readEntries'> & RewriteStore;
  readonly keys: Pick<PseudonymKeys, 'keyOf'>;
  readonly clock: LedgerClock;
}

interface ReplacedUserIds {
  readonly replaced: number;
  /** Not started in time, or changed concurrently. The next run retries them. */
  readonly left: number;
}

/**
 * Replaces user ids in jobs that ended 90 days ago; other jobs stay. It may be interrupted and repeated at
 * any time.
 *
 * @param deadlineMs - on the monotonic clock.
 * @throws {LedgerError} `ledger_unavailable`
 */
export async function replaceUserIds(
  jobIds: readonly number[],
  deadlineMs: number,
  { store, keys, clock }: ReplaceUserIdsDeps,
): Promise<ReplacedUserIds> {
  let replaced = 0;
  let left = 0;
  for (let from = 0; from < jobIds.length; from += PAGE) {
    if (clock.monotonicMs() >= deadlineMs) return { replaced, left: left + jobIds.length - from };
    const records = await store.readRecords(jobIds.slice(from, from + PAGE), { timeoutMs: TIMEOUT_MS });
    const due = records
      .filter((record) => record !== undefined)
      .filter((record) => namesNeedlessly(record, clock.nowMs()));
    await atOnce(due, AT_ONCE, async (record) => {
      if (await replace(record)) replaced += 1;
      else left += 1;
    });
  }
  return { replaced, left };

  async function replace(record: JobRecord): Promise<boolean> {
    const key = await keys.keyOf(yearOf(record.decidedAtMs));
    const job = nameless(await kept(record, store), (id) => pseudonymOf(key, id), clock.nowMs());
    return store.rewrite(job.record, job.entries, { timeoutMs: TIMEOUT_MS });
  }
}

/** Returns the record, with its entries if any of them may name a user. */
export async function kept(record: JobRecord, store: Pick<LedgerStore, 'readEntries'>): Promise<KeptJob> {
  const { userId: _, ...facts } = record.facts;
  const inClaims = userIdsIn({ ...record, facts }).length > 0;
  const entries =
    record.entries > 0 && inClaims ? await store.readEntries(record.jobId, { timeoutMs: TIMEOUT_MS }) : [];
  return { record, entries };
}
