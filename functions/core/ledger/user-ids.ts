import { createHmac, randomBytes } from 'node:crypto';
import type { CounterKey } from '../../../policies/claim.ts';
import { userOfSubject } from '../../../policies/limits/cap.ts';
import type { Violation } from '../../../policies/reason.ts';
import { atOnce, type LedgerClock } from '../environment/environment.ts';
import { itemAt, readItem, timedTable, writeItem } from '../store/calls.ts';
import { ledgerKeys } from '../store/keys.ts';
import { absent, type InstanceTable, TTL_ATTRIBUTE } from '../store/operation.ts';
import type { CorrectionEntry, JobFacts, JobRecord } from './ledger.ts';
import { isOfUser, namelessFromMs, recordNamelessFromMs } from './retention.ts';
import type { LedgerStore, RewriteStore } from './store.ts';

/** Characters of base64: 72 bits, so that two users of one GitLab never meet. */
const LENGTH = 12;

/** Equal for all jobs of a user under one key, and irreversible without it. `user/~Jk3…` is not a user's subject. */
export const pseudonymOf = (key: Uint8Array, userId: number): string =>
  `~${createHmac('sha256', key).update(`user/${userId}`).digest('base64url').slice(0, LENGTH)}`;

/** One random key per year (UTC): jobs of a user add up within a year; two years cannot be linked. */
export type PseudonymKeys = ReturnType<typeof dynamoPseudonymKeys>;

export const yearOf = (atMs: number): number => new Date(atMs).getUTCFullYear();

const TIMEOUT_MS = 5_000;
const KEY_BYTES = 32;
const KEY = 'k';
/** The longest job, the longest year and 90 days: by then the last record of the year is gone. */
const KEPT_DAYS = 35 + 367 + 90;
const DAY_SECONDS = 86_400;

export function dynamoPseudonymKeys({ table, instance }: InstanceTable) {
  const keys = ledgerKeys(instance);
  const timed = timedTable(table, TIMEOUT_MS);
  const known = new Map<number, Uint8Array>();

  async function find(year: number): Promise<Uint8Array | undefined> {
    const cached = known.get(year);
    if (cached !== undefined) return cached;
    const item = await readItem(timed, 'a key of pseudonyms', keys.pseudonymKey(year));
    const key = item?.[KEY]?.B;
    if (key !== undefined) known.set(year, key);
    return key;
  }

  return {
    find,
    /** The year's key, made when it is first asked for. @throws {LedgerError} `ledger_unavailable` */
    async keyOf(year: number): Promise<Uint8Array> {
      const there = await find(year);
      if (there !== undefined) return there;
      const item = itemAt(keys.pseudonymKey(year), {
        [KEY]: { B: randomBytes(KEY_BYTES) },
        [TTL_ATTRIBUTE]: { N: String(Date.UTC(year + 1, 0, 1) / 1000 + KEPT_DAYS * DAY_SECONDS) },
      });
      await writeItem(timed, 'a key of pseudonyms', item, absent());
      return (await find(year)) ?? Promise.reject(new Error(`the key of ${year} was made and is not there`));
    },
  };
}

export interface KeptJob {
  readonly record: JobRecord;
  readonly entries: readonly CorrectionEntry[];
}

const ID = /^\d+$/;

export const userIdOf = (subject: string): number | undefined => {
  const id = userOfSubject(subject);
  return id === undefined || !ID.test(id) ? undefined : Number(id);
};

const renamed = (subject: string, name: string): string => subject.replace(/[^/]+$/, () => name);

export function userIdsIn({ facts, claims, violations, shadow }: JobRecord): readonly number[] {
  const subjects = [
    ...claims.map(({ counter }) => counter.subject),
    ...[...violations, ...shadow].flatMap(({ reason }) =>
      'subject' in reason ? String(reason.subject) : [],
    ),
  ];
  return [facts.userId, ...subjects.map(userIdOf)].filter((id) => id !== undefined);
}

export const namesNeedlessly = (record: JobRecord, nowMs: number): boolean =>
  nowMs >= recordNamelessFromMs(record) &&
  userIdsIn(withoutNames(record, () => '', nowMs)).length < userIdsIn(record).length;

/** Claims on counters that are still in force, or were until lately, keep the id: the counter is found by it. */
export function nameless(
  { record, entries }: KeptJob,
  nameOf: (userId: number) => string,
  nowMs: number,
): KeptJob {
  return {
    record: withoutNames(record, nameOf, nowMs),
    entries: entries.map((entry) => ({
      ...entry,
      deltas: entry.deltas.map((delta) => ({ ...delta, counter: unnamed(delta.counter, nameOf, nowMs) })),
    })),
  };
}

function withoutNames(record: JobRecord, nameOf: (userId: number) => string, nowMs: number): JobRecord {
  const { userId, ...facts } = record.facts;
  const without: JobFacts = userId === undefined ? record.facts : { ...facts, userPseudonym: nameOf(userId) };
  return {
    ...record,
    facts: without,
    claims: record.claims.map((claim) => ({ ...claim, counter: unnamed(claim.counter, nameOf, nowMs) })),
    violations: record.violations.map((violation) => unnamedViolation(violation, nameOf)),
    shadow: record.shadow.map((violation) => unnamedViolation(violation, nameOf)),
  };
}

function unnamed(key: CounterKey, nameOf: (userId: number) => string, nowMs: number): CounterKey {
  const userId = isOfUser(key) && nowMs >= namelessFromMs(key) ? userIdOf(key.subject) : undefined;
  return userId === undefined ? key : { ...key, subject: renamed(key.subject, nameOf(userId)) };
}

function unnamedViolation(violation: Violation, nameOf: (userId: number) => string): Violation {
  const { reason } = violation;
  const subject = 'subject' in reason ? String(reason.subject) : '';
  const userId = userIdOf(subject);
  if (userId === undefined) return violation;
  const name = nameOf(userId);
  const renamedReason = {
    ...reason,
    subject: renamed(subject, name),
    ...('subjectLabel' in reason && {
      subjectLabel: String(reason.subjectLabel).replace(new RegExp(`\\b${userId}\\b`), () => name),
    }),
  };
  return { ...violation, reason: renamedReason as Violation['reason'] };
}

const PAGE = 100;
const AT_ONCE = 10;

/** For jobs that ended 90 days ago. It may be interrupted and repeated. `left`: the next run retries them. */
export async function replaceUserIds(
  jobIds: readonly number[],
  deadlineMs: number,
  deps: {
    readonly store: Pick<LedgerStore, 'readRecords' | 'readEntries'> & RewriteStore;
    readonly keys: Pick<PseudonymKeys, 'keyOf'>;
    readonly clock: LedgerClock;
  },
): Promise<{ readonly replaced: number; readonly left: number }> {
  const { store, keys, clock } = deps;
  const options = { timeoutMs: TIMEOUT_MS };
  let replaced = 0;
  let left = 0;
  for (let from = 0; from < jobIds.length; from += PAGE) {
    if (clock.monotonicMs() >= deadlineMs) return { replaced, left: left + jobIds.length - from };
    const records = await store.readRecords(jobIds.slice(from, from + PAGE), options);
    await atOnce(records, AT_ONCE, async (record) => {
      if (record === undefined || !namesNeedlessly(record, clock.nowMs())) return;
      const key = await keys.keyOf(yearOf(record.decidedAtMs));
      const job = nameless(await kept(record, store), (id) => pseudonymOf(key, id), clock.nowMs());
      if (await store.rewrite(job.record, job.entries, options)) replaced += 1;
      else left += 1;
    });
  }
  return { replaced, left };
}

/** Returns the record, with its entries if any may name a user. */
export async function kept(record: JobRecord, store: Pick<LedgerStore, 'readEntries'>): Promise<KeptJob> {
  const { userId: _, ...facts } = record.facts;
  const inClaims = userIdsIn({ ...record, facts }).length > 0;
  const entries =
    record.entries > 0 && inClaims ? await store.readEntries(record.jobId, { timeoutMs: TIMEOUT_MS }) : [];
  return { record, entries };
}
