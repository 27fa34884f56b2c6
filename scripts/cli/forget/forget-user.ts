/** Removes a user's id from stored jobs, and ends the user's sessions. No amount changes. */
import {
  type JobRecord,
  type KeptJob,
  kept,
  type LedgerStore,
  nameless,
  type PseudonymKeys,
  pseudonymOf,
  type RewriteStore,
  userIdOf,
  userIdsIn,
  yearOf,
} from '../../../functions/core/ledger/index.ts';
import type { SheetStore } from '../../../functions/core/sheets/index.ts';
import type { UserSessions } from '../../../functions/core/signin/index.ts';
import { counterName } from '../../../policies/claim.ts';
import { forgetInSheets } from './forget-in-sheets.ts';

interface ForgetDeps {
  readonly store: Pick<LedgerStore, 'scan' | 'readEntries'> & RewriteStore;
  readonly keys: PseudonymKeys;
  readonly sessions: UserSessions;
  readonly sheets: SheetStore;
  readonly nowMs: number;
  /** Only says what would be changed. */
  readonly dryRun: boolean;
}

/** Changes, real or planned. */
export interface ForgetReport {
  /** Records of jobs that named the user, by id or pseudonym. */
  readonly records: number;
  /** Sign-ins that were ended. */
  readonly sessions: number;
  /** Days whose reports by user named the user. */
  readonly reportDays: number;
  /** Records changed concurrently: run it again. */
  readonly left: number;
  readonly stays: {
    /** Jobs that are not over, or ended in another way than a record says: their ends are counted by it. */
    readonly liveJobs: number;
    /** Counters of the user's own limits. Each goes by itself 90 days after its period; those without an end stay. */
    readonly counters: readonly string[];
  };
}

/** Replaces the pseudonym: only the existence of a user remains. */
const FORGOTTEN = '~';
const TIMEOUT_MS = 10_000;
const AT_ONCE = 10;
/** Even a user with limits per minute has fewer relevant counters. */
const COUNTERS_TOLD_MAX = 1_000;

/** It may be cut short and repeated: what is done is not done again. @throws {LedgerError} `ledger_unavailable` */
export async function forgetUser(userId: number, deps: ForgetDeps): Promise<ForgetReport> {
  const { store, keys, dryRun, nowMs } = deps;
  const counters = new Set<string>();
  const sum = { records: 0, left: 0, liveJobs: 0 };
  let page: KeptJob[] = [];
  const flush = async (): Promise<void> => {
    const done = await Promise.all(
      page.map(({ record, entries }) => dryRun || store.rewrite(record, entries, { timeoutMs: TIMEOUT_MS })),
    );
    sum.records += done.filter((each) => each).length;
    sum.left += done.filter((each) => !each).length;
    page = [];
  };
  for await (const item of store.scan()) {
    if (item.kind === 'counter' && userIdOf(item.counter.key.subject) === userId) {
      if (counters.size < COUNTERS_TOLD_MAX) counters.add(counterName(item.counter.key));
    }
    if (item.kind !== 'record' || !(await names(item.record))) continue;
    if (item.record.endedAtMs === undefined) sum.liveJobs += 1;
    else {
      const job = await without(item.record);
      if (job !== undefined) page.push(job);
      if (page.length >= AT_ONCE) await flush();
    }
  }
  await flush();
  const sessions = await deps.sessions.end(userId, { dryRun });
  // After the records, from which sheets are made.
  const reportDays = await forgetInSheets(userId, deps);
  const { records, left, liveJobs } = sum;
  return { records, sessions, reportDays, left, stays: { liveJobs, counters: [...counters].sort() } };

  async function names(record: JobRecord): Promise<boolean> {
    if (userIdsIn(record).includes(userId)) return true;
    const { userPseudonym } = record.facts;
    if (userPseudonym === undefined) return false;
    const key = await keys.find(yearOf(record.decidedAtMs));
    return key !== undefined && pseudonymOf(key, userId) === userPseudonym;
  }

  /** Undefined: all that it still says of the user is needed. */
  async function without(record: JobRecord): Promise<KeptJob | undefined> {
    const year = yearOf(record.decidedAtMs);
    const key = dryRun ? await keys.find(year) : await keys.keyOf(year);
    const job = nameless(await kept(record, store), (id) => (key ? pseudonymOf(key, id) : '~'), nowMs);
    const less =
      record.facts.userPseudonym !== FORGOTTEN || userIdsIn(job.record).length < userIdsIn(record).length;
    const facts = { ...job.record.facts, userPseudonym: FORGOTTEN };
    return less ? { ...job, record: { ...job.record, facts } } : undefined;
  }
}
