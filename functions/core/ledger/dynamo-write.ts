/** The ledger's writes as writes of items. The condition on a counter is the check: there is no read before it. */

import type { Violation } from '../../../policies/reason.ts';
import {
  absent,
  all,
  any,
  atRev,
  DUE_AT,
  DUE_PK,
  type Item,
  type ItemCondition,
  type ItemWrite,
  itemBytes,
  type LedgerKeys,
  numberIs,
  PK,
  type PutWrite,
  present,
  putOf,
  SK,
  TTL_ATTRIBUTE,
  type UpdateWrite,
  versioned,
} from '../store/index.ts';
import { UNCHECKED_CAUSES } from './amounts.ts';
import {
  CLOSED_AT,
  COMMITTED,
  DRIFTS,
  encodeClosing,
  encodeEntry,
  encodeReset,
  FITTED,
  RECLAIMED_UNTIL,
  REV,
  reservedName,
  SETTLED,
  UNCHECKED,
} from './counter-item.ts';
import type { CorrectionEntry } from './entry.ts';
import type { JobFacts, JobRecord } from './ledger.ts';
import { encodeRecord, shortLabel } from './record-item.ts';
import type { Announcement, CounterReset, CounterWrite, Write } from './store.ts';

export function itemWrite(write: Write, keys: LedgerKeys): ItemWrite {
  switch (write.kind) {
    case 'record':
      return putOf(recordItem(write.record, keys), sameAs(REV, write.replaces?.rev), 'old');
    case 'counter':
      return counterUpdate(write, keys);
    case 'entry':
      return putOf(encodeEntry(write.entry, keys), absent(), 'old');
    case 'closing':
      return putOf(encodeClosing(write.closing, keys), sameAs(CLOSED_AT, write.replaces?.closedAtMs), 'old');
    case 'reset':
      return resetUpdate(write, keys);
  }
}

/** Sets every attribute of a counter but the slots that older versions kept. */
function resetUpdate(write: CounterReset, keys: LedgerKeys): UpdateWrite {
  const whole = Object.entries(encodeReset(write, keys));
  const set = Object.fromEntries(whole.filter(([name]) => ![PK, SK].includes(name) && !(name in versioned)));
  return {
    kind: 'update',
    key: keys.counter(write.key),
    setIfAbsent: versioned,
    set,
    remove: RESET_ATTRIBUTES.filter((name) => !(name in set)),
    condition: atRev(REV, write.rev),
    showsOld: true,
  };
}

const RESET_ATTRIBUTES = [...Object.values(UNCHECKED), DRIFTS, TTL_ATTRIBUTE, DUE_PK, DUE_AT];

/** The item it replaces has this value; undefined: there must be no item. */
const sameAs = (attribute: string, value: number | undefined): ItemCondition =>
  value === undefined ? absent() : numberIs(attribute, '=', value);

/** At its own rev: the same record in other words. */
export const rewriteOf = (record: JobRecord, keys: LedgerKeys): PutWrite =>
  putOf(recordItem(record, keys), numberIs(REV, '=', record.rev));

export const rewriteOfEntry = (entry: CorrectionEntry, keys: LedgerKeys): PutWrite =>
  putOf(encodeEntry(entry, keys), present());

function counterUpdate(write: CounterWrite, keys: LedgerKeys): UpdateWrite {
  const add: Record<string, number> = {
    [COMMITTED]: write.committed,
    [FITTED]: write.fitted,
    [SETTLED]: write.settled,
    [REV]: 1,
  };
  for (const cause of UNCHECKED_CAUSES) {
    const amount = write.unchecked[cause] ?? 0;
    if (amount !== 0) add[UNCHECKED[cause]] = amount;
  }
  const bounds = [
    ...atMost(COMMITTED, write.maxCommitted),
    ...atMost(FITTED, write.maxFitted),
    ...atMost(RECLAIMED_UNTIL, write.borrowedAtMs),
  ];
  const [bound, ...others] = bounds;
  return {
    kind: 'update',
    key: keys.counter(write.key),
    setIfAbsent: versioned,
    set: {
      ...(write.expiresAtSeconds !== undefined && { [TTL_ATTRIBUTE]: { N: String(write.expiresAtSeconds) } }),
      ...(write.closeAtMs !== undefined && {
        [DUE_PK]: { S: keys.closingPk(write.key) },
        [DUE_AT]: { N: String(write.closeAtMs) },
      }),
      ...(write.reclaimUntilMs !== undefined && { [RECLAIMED_UNTIL]: { N: String(write.reclaimUntilMs) } }),
      ...(write.reserves !== undefined && {
        [reservedName(write.reserves.jobId)]: { N: String(write.reserves.pipelineId) },
      }),
    },
    add,
    ...(write.unreserves !== undefined && { remove: write.unreserves.map(reservedName) }),
    ...(bound !== undefined && { condition: others.length === 0 ? bound : all(bounds), showsOld: true }),
  };
}

/** An absent counter is one of zeros; without its arm even the first batch of a period meets a bound below its own sum. */
function atMost(attribute: string, max: number | undefined): readonly ItemCondition[] {
  if (max === undefined) return [];
  const fits = numberIs(attribute, '<=', max);
  return [max >= 0 ? any([absent(attribute), fits]) : fits];
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

// Keeps a record within one write unit. Labels and surplus violations go, in a fixed order; the claims never do.

/** One write unit. A second one would double what every job costs. */
const RECORD_BYTES_MAX = 1024;

/** The record's item, shortened until it fits. Twenty-four claims on long names may still exceed it: they are the charge. */
export function recordItem(record: JobRecord, keys: LedgerKeys): Item {
  let item = encodeRecord(record, keys);
  if (itemBytes(item) <= RECORD_BYTES_MAX) return item;
  // If the record is too large without these bytes as well, keep them and shorten the request instead.
  const unqueued = encodeRecord(withoutQueue(record), keys);
  if (itemBytes(unqueued) <= RECORD_BYTES_MAX) return unqueued;
  let shorter = record;
  for (const shorten of SHORTENINGS) {
    for (;;) {
      const next = shorten(shorter);
      if (next === undefined) break;
      shorter = next;
      item = encodeRecord(shorter, keys);
      if (itemBytes(item) <= RECORD_BYTES_MAX) return item;
    }
  }
  return item;
}

/** From what is missed least to what is missed most. Each is applied until it has nothing left to take. */
const SHORTENINGS: readonly ((record: JobRecord) => JobRecord | undefined)[] = [
  (record) => {
    const shadow = record.shadow.map(withoutExtras);
    return shadow.some((each, index) => each !== record.shadow[index]) ? { ...record, shadow } : undefined;
  },
  withoutRequest,
  (record) =>
    withFacts(record, {
      jobName: record.facts.jobName && shortLabel(record.facts.jobName),
      projectPath: record.facts.projectPath && shortLabel(record.facts.projectPath),
    }),
  (record) => (record.shadow.length === 0 ? undefined : { ...record, shadow: record.shadow.slice(0, -1) }),
  (record) => withFacts(record, { jobName: undefined, projectPath: undefined }),
  (record) => withViolations(record, record.violations.map(withoutExtras)),
  (record) =>
    record.violations.length <= 1 ? undefined : { ...record, violations: record.violations.slice(0, -1) },
  (record) => withViolations(record, record.violations.map(withShortTexts)),
];

function withoutQueue(record: JobRecord): JobRecord {
  const { retryCount: _r, queuedSeconds: _q, ...facts } = record.facts;
  return { ...record, facts };
}

/** Whole: half a question asked again would get half an answer. */
function withoutRequest(record: JobRecord): JobRecord | undefined {
  const { asked, ...facts } = record.facts;
  return asked === undefined ? undefined : { ...record, facts };
}

function withFacts(
  record: JobRecord,
  labels: { readonly jobName: string | undefined; readonly projectPath: string | undefined },
): JobRecord | undefined {
  const { jobName, projectPath, ...rest } = record.facts;
  if (labels.jobName === jobName && labels.projectPath === projectPath) return undefined;
  const facts: JobFacts = {
    ...rest,
    ...(labels.jobName === undefined ? {} : { jobName: labels.jobName }),
    ...(labels.projectPath === undefined ? {} : { projectPath: labels.projectPath }),
  };
  return { ...record, facts };
}

function withViolations(record: JobRecord, violations: readonly Violation[]): JobRecord | undefined {
  const changed = violations.some((violation, index) => violation !== record.violations[index]);
  return changed ? { ...record, violations } : undefined;
}

/** Details that can be looked up elsewhere: the owner, the zone, further patterns. */
const EXTRAS: readonly string[] = ['owner', 'zone', 'allowed'];

const withoutExtras = (violation: Violation): Violation =>
  withReason(violation, (name, value) =>
    !EXTRAS.includes(name) || isEmptyList(value) ? value : Array.isArray(value) ? [] : undefined,
  );

const withShortTexts = (violation: Violation): Violation =>
  withReason(violation, (_, value) => (typeof value === 'string' ? shortLabel(value) : value));

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** The same violation object when nothing changes. */
function withReason(violation: Violation, change: (name: string, value: unknown) => unknown): Violation {
  let changed = false;
  const entries = Object.entries(violation.reason).flatMap(([name, value]) => {
    const next = change(name, value);
    if (next !== value) changed = true;
    return next === undefined ? [] : [[name, next] as const];
  });
  return changed
    ? { ...violation, reason: Object.fromEntries(entries) as unknown as Violation['reason'] }
    : violation;
}
