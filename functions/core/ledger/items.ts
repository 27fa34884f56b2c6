import type { Violation } from '../../../policies/reason.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { itemAt, putOf } from '../store/calls.ts';
import {
  CLOSING_SK,
  COUNTER_SK,
  ENTRY_SK_PREFIX,
  INBOX_SK,
  type LedgerKeys,
  RECORD_SK,
} from '../store/keys.ts';
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
  isNewer,
  itemBytes,
  numberIs,
  PK,
  type PutWrite,
  present,
  SK,
  TTL_ATTRIBUTE,
  type UpdateWrite,
  versioned,
} from '../store/operation.ts';
import type {
  ClosingEntry,
  CorrectionEntry,
  Counter,
  CounterAmounts,
  EntryCause,
  JobRecord,
  UncheckedCause,
} from './ledger.ts';
import {
  decodeDeltas,
  decodeRecord,
  encodeDeltas,
  encodeRecord,
  type ItemValues,
  numberValue,
  optionalNumber,
  readLines,
  readNumber,
  readText,
  shortLabel,
  textValue,
  textValues,
  ttl,
} from './record.ts';
import { perCause, UNCHECKED_CAUSES } from './recount.ts';
import { expiresAtSeconds } from './retention.ts';
import type {
  Announcement,
  CounterReset,
  CounterWrite,
  InboxItem,
  StoredItem,
  TransactOutcome,
  Write,
} from './store.ts';

const CLOSED_AT = 'at';

/** Attribute names of a counter; `ADD` in a transaction names them too. */
const COMMITTED = 'c';
const FITTED = 'f';
const SETTLED = 's';
const REV = 'r';
const RECLAIMED_UNTIL = 'ru';
const DRIFTS = 'dr';
/** One attribute for each job that is being retried, `rv4711`: the number of its pipeline. */
const reservedName = (jobId: number): string => `${RESERVED_PREFIX}${jobId}`;
const RESERVED_PREFIX = 'rv';
const UNCHECKED: Readonly<Record<UncheckedCause, string>> = {
  exempt: 'ux',
  unmetered: 'um',
  bypass: 'ub',
};

function encodeAmounts(amounts: CounterAmounts): ItemValues {
  const item: ItemValues = {
    [COMMITTED]: numberValue(amounts.committed),
    [FITTED]: numberValue(amounts.fitted),
    [SETTLED]: numberValue(amounts.settled),
  };
  for (const cause of UNCHECKED_CAUSES) {
    if (amounts.unchecked[cause] !== 0) item[UNCHECKED[cause]] = numberValue(amounts.unchecked[cause]);
  }
  return item;
}

const decodeAmounts = (item: Item): CounterAmounts => ({
  committed: readNumber(item, COMMITTED),
  fitted: readNumber(item, FITTED),
  settled: readNumber(item, SETTLED),
  unchecked: perCause((cause) => readNumber(item, UNCHECKED[cause])),
});

const counterValues = (counter: CounterAmounts & Pick<Counter, 'rev' | 'drifts'>): ItemValues => ({
  ...encodeAmounts(counter),
  [REV]: numberValue(counter.rev),
  ...(counter.drifts && { [DRIFTS]: { BOOL: true } }),
});

export const encodeCounter = (counter: Counter, keys: LedgerKeys): Item =>
  itemAt(keys.counter(counter.key), counterValues(counter));

/** A counter is in the due index until its period is closed. */
const lifetime = (
  { key, expiresAtSeconds, closeAtMs }: Pick<CounterWrite, 'key' | 'expiresAtSeconds' | 'closeAtMs'>,
  keys: LedgerKeys,
): ItemValues => ({
  ...ttl(expiresAtSeconds),
  ...(closeAtMs !== undefined && {
    [DUE_PK]: textValue(keys.closingPk(key)),
    [DUE_AT]: numberValue(closeAtMs),
  }),
});

export const decodeCounter = (item: Item, keys: LedgerKeys): Counter => ({
  key: keys.counterOf(readText(item, PK)),
  ...decodeAmounts(item),
  rev: readNumber(item, REV),
  ...withoutAbsent({
    reclaimedUntilMs: optionalNumber(item, RECLAIMED_UNTIL),
    drifts: item[DRIFTS]?.BOOL === true ? (true as const) : undefined,
    reserved: readReserved(item),
  }),
});

function readReserved(item: Item): Counter['reserved'] {
  const names = Object.keys(item).filter((name) => name.startsWith(RESERVED_PREFIX));
  if (names.length === 0) return undefined;
  const jobIdIn = (name: string): number => Number(name.slice(RESERVED_PREFIX.length));
  return names.map((name) => ({ jobId: jobIdIn(name), pipelineId: readNumber(item, name) }));
}

export function encodeEntry(entry: CorrectionEntry, keys: LedgerKeys): Item {
  return itemAt(keys.entry(entry.jobId, entry.number), {
    g: numberValue(entry.generation),
    ca: textValue(entry.cause),
    at: numberValue(entry.atMs),
    de: textValues(encodeDeltas(entry.deltas)),
    ...(entry.unchecked === undefined ? {} : { un: textValue(entry.unchecked) }),
    ...ttl(expiresAtSeconds(entry.atMs, entry.deltas)),
  });
}

export const decodeEntry = (item: Item, keys: LedgerKeys): CorrectionEntry => ({
  jobId: keys.jobIdOf(readText(item, PK)),
  number: Number(readText(item, SK).slice(ENTRY_SK_PREFIX.length)),
  generation: readNumber(item, 'g'),
  cause: readText(item, 'ca') as EntryCause,
  atMs: readNumber(item, 'at'),
  deltas: decodeDeltas(readLines(item, 'de')),
  ...(item.un?.S === undefined ? {} : { unchecked: item.un.S as UncheckedCause }),
});

const encodeClosing = (closing: ClosingEntry, keys: LedgerKeys): Item =>
  itemAt(keys.closing(closing.key), {
    ...encodeAmounts(closing),
    [CLOSED_AT]: numberValue(closing.closedAtMs),
  });

const decodeClosing = (item: Item, keys: LedgerKeys): ClosingEntry => ({
  key: keys.counterOf(readText(item, PK)),
  ...decodeAmounts(item),
  closedAtMs: readNumber(item, CLOSED_AT),
  ...withoutAbsent({ adjusted: optionalNumber(item, 'ad') }),
});

/** Credits by hand of older versions. */
const CREDIT_SK_PREFIX = 'adjustment#';

export function decodeItem(item: Item, keys: LedgerKeys): StoredItem {
  const sk = readText(item, SK);
  if (isNewer(item)) return { kind: 'unknown', sk };
  if (sk === RECORD_SK) return { kind: 'record', record: decodeRecord(item, keys) };
  if (sk === COUNTER_SK) return { kind: 'counter', counter: decodeCounter(item, keys) };
  if (sk.startsWith(ENTRY_SK_PREFIX)) return { kind: 'entry', entry: decodeEntry(item, keys) };
  if (sk.startsWith(CREDIT_SK_PREFIX)) return { kind: 'retired' };
  if (sk === CLOSING_SK) return { kind: 'closing', closing: decodeClosing(item, keys) };
  return { kind: 'unknown', sk };
}

export const inboxItem = ({ id, body, receivedAtMs, untilMs }: InboxItem, keys: LedgerKeys): Item =>
  itemAt(keys.inbox(id, receivedAtMs), {
    b: textValue(body),
    at: numberValue(receivedAtMs),
    ...ttl(seconds(untilMs)),
  });

export const inboxBody = (item: Item, keys: LedgerKeys): string | undefined =>
  keys.isInboxPk(readText(item, PK)) ? item.b?.S : undefined;

export const journalBody = (item: Item, keys: LedgerKeys): string | undefined =>
  readText(item, SK) === INBOX_SK && keys.isJournalPk(readText(item, PK)) ? item.b?.S : undefined;

// Encodes ledger writes as item writes. The condition on a counter is the check.

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

/** Sets amounts, `rev`, drift flag and lifetime. Reservations and the reclaim mark stay. */
function resetUpdate(write: CounterReset, keys: LedgerKeys): UpdateWrite {
  const { amounts, rev, drifts } = write;
  const set: ItemValues = {
    ...counterValues({ ...amounts, rev: rev + 1, ...(drifts && { drifts }) }),
    ...lifetime(write, keys),
  };
  return {
    kind: 'update',
    key: keys.counter(write.key),
    setIfAbsent: versioned,
    set,
    remove: RESET_ATTRIBUTES.filter((name) => !(name in set)),
    condition: atRev(REV, rev),
    showsOld: true,
  };
}

const RESET_ATTRIBUTES = [...Object.values(UNCHECKED), DRIFTS, TTL_ATTRIBUTE, DUE_PK, DUE_AT];

const sameAs = (attribute: string, value: number | undefined): ItemCondition =>
  value === undefined ? absent() : numberIs(attribute, '=', value);

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
      ...lifetime(write, keys),
      ...(write.reclaimUntilMs !== undefined && { [RECLAIMED_UNTIL]: numberValue(write.reclaimUntilMs) }),
      ...(write.reserves !== undefined && {
        [reservedName(write.reserves.jobId)]: numberValue(write.reserves.pipelineId),
      }),
    },
    add,
    ...(write.unreserves !== undefined && { remove: write.unreserves.map(reservedName) }),
    ...(bound !== undefined && { condition: others.length === 0 ? bound : all(bounds), showsOld: true }),
  };
}

/** An absent counter counts as zero, and zero passes every bound that is not negative. A negative one refuses it. */
function atMost(attribute: string, max: number | undefined): readonly ItemCondition[] {
  if (max === undefined) return [];
  const fits = numberIs(attribute, '<=', max);
  return [max >= 0 ? any([absent(attribute), fits]) : fits];
}

export const announcementItem = ({ key, untilMs }: Announcement, keys: LedgerKeys): Item =>
  itemAt(keys.announcement(key), ttl(seconds(untilMs)));

export const seconds = (ms: number): number => Math.ceil(ms / 1000);

/** One write unit. A second one would double what every job costs. */
const RECORD_BYTES_MAX = 1024;

/** The record's item, shortened until it fits. Twenty-four claims on long names may still exceed it: they are the charge. */
export function recordItem(record: JobRecord, keys: LedgerKeys): Item {
  let item = encodeRecord(record, keys);
  if (itemBytes(item) <= RECORD_BYTES_MAX) return item;
  for (const shorter of shortened(record)) {
    item = encodeRecord(shorter, keys);
    if (itemBytes(item) <= RECORD_BYTES_MAX) break;
  }
  return item;
}

/** Drops the least important fields first, and never the claims. */
function* shortened(record: JobRecord): Generator<JobRecord> {
  const { retryCount: _r, queuedSeconds: _q, ...unqueued } = record.facts;
  // If the record is too large without these bytes as well, keep them and shorten the rest instead.
  yield { ...record, facts: unqueued };
  let next: JobRecord = { ...record, shadow: record.shadow.map(withoutDetails) };
  yield next;
  // Drops the whole request, because a partial one would be evaluated differently.
  const { asked: _asked, jobName, projectPath, ...facts } = record.facts;
  next = { ...next, facts: { ...facts, ...withoutAbsent({ jobName, projectPath }) } };
  yield next;
  const labels = {
    jobName: jobName && shortLabel(jobName),
    projectPath: projectPath && shortLabel(projectPath),
  };
  next = { ...next, facts: { ...facts, ...withoutAbsent(labels) } };
  yield next;
  while (next.shadow.length > 0) {
    next = { ...next, shadow: next.shadow.slice(0, -1) };
    yield next;
  }
  next = { ...next, facts };
  yield next;
  next = { ...next, violations: next.violations.map(withoutDetails) };
  yield next;
  while (next.violations.length > 1) {
    next = { ...next, violations: next.violations.slice(0, -1) };
    yield next;
  }
}

/** Without what can be looked up elsewhere: the owner, the zone, further patterns. Long texts are cut. */
function withoutDetails(violation: Violation): Violation {
  const { owner: _o, zone: _z, ...rest } = violation.reason as Readonly<Record<string, unknown>>;
  const reason = Object.entries(rest).map(([name, value]) => {
    if (name === 'allowed') return [name, []];
    return [name, typeof value === 'string' ? shortLabel(value) : value];
  });
  return { ...violation, reason: Object.fromEntries(reason) as Violation['reason'] };
}

/**
 * Write units; DynamoDB Local reports a flat figure. A refused or conflicted transaction pays for the table as if it had worked; the
 * index follows only what is committed.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html
 */
export function writeUnits(
  writes: readonly Write[],
  outcome: TransactOutcome['outcome'],
  keys: LedgerKeys,
): { readonly table: number; readonly index: number } {
  let table = 0;
  let index = 0;
  for (const write of outcome === 'throttled' ? [] : writes) {
    table += 2 * Math.max(1, Math.ceil(bytesOf(write, keys) / 1024));
    if (outcome === 'committed') index += indexWrites(write);
  }
  return { table, index };
}

function bytesOf(write: Write, keys: LedgerKeys): number {
  const item = itemWrite(write, keys);
  if (item.kind === 'put') return itemBytes(item.item);
  // The item holds sums rather than these amounts, which adds some bytes to two hundred.
  const added = Object.entries(item.add ?? {}).map(([name, amount]) => [name, numberValue(amount)]);
  return itemBytes(itemAt(item.key, { ...item.set, ...Object.fromEntries(added) }));
}

function indexWrites(write: Write): number {
  if (write.kind === 'reset') return 1;
  if (write.kind !== 'record') return 0;
  const before = write.replaces?.dueAtMs;
  const after = write.record.dueAtMs;
  if (before === after) return 0;
  return (before === undefined ? 0 : 1) + (after === undefined ? 0 : 1);
}
