/** Removes user ids from a job's record and correction entries. Pure. */
import type { CounterKey } from '../../../policies/claim.ts';
import { userOfSubject } from '../../../policies/limits/cap.ts';
import type { Violation } from '../../../policies/reason.ts';
import type { CorrectionEntry } from './entry.ts';
import type { JobFacts, JobRecord } from './ledger.ts';
import { isOfUser, namelessFromMs, recordNamelessFromMs } from './retention.ts';

/** A job as it is kept. */
export interface KeptJob {
  readonly record: JobRecord;
  readonly entries: readonly CorrectionEntry[];
}

const ID = /^\d+$/;

/** Undefined: the subject is no user's, or has a pseudonym. */
export const userIdOf = (subject: string): number | undefined => {
  const id = userOfSubject(subject);
  return id === undefined || !ID.test(id) ? undefined : Number(id);
};

/** Its last part is the user's id. */
const renamed = (subject: string, name: string): string => subject.replace(/[^/]+$/, () => name);

/** Every place in which a record names a user, as the user's id. */
export function userIdsIn({ facts, claims, violations, shadow }: JobRecord): readonly number[] {
  const subjects = [
    ...claims.map(({ counter }) => counter.subject),
    ...[...violations, ...shadow].flatMap(({ reason }) =>
      'subject' in reason ? String(reason.subject) : [],
    ),
  ];
  return [facts.userId, ...subjects.map(userIdOf)].filter((id) => id !== undefined);
}

/** Returns true if the record names a user without need. */
export const namesNeedlessly = (record: JobRecord, nowMs: number): boolean =>
  nowMs >= recordNamelessFromMs(record) &&
  userIdsIn(withoutNames(record, () => '', nowMs)).length < userIdsIn(record).length;

/**
 * The job without the ids of users: a pseudonym stands for each. Claims on counters that are still in force, or were until
 * lately, keep theirs: the counter is found by it.
 *
 * @param nameOf - the pseudonym of a user.
 */
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
  const told = {
    ...reason,
    subject: renamed(subject, name),
    ...('subjectLabel' in reason && {
      subjectLabel: String(reason.subjectLabel).replace(new RegExp(`\\b${userId}\\b`), () => name),
    }),
  };
  return { ...violation, reason: told as Violation['reason'] };
}
