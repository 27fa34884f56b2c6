/** What the ledger keeps ↔ DynamoDB items. Attribute names are short because every byte is stored with every job. */
import type { RecordedRequest } from '../../../policies/request/recorded.ts';
import {
  ADJUSTMENT_SK_PREFIX,
  type AttributeValue,
  CLOSING_SK,
  COUNTER_SK,
  DUE_AT,
  DUE_PK,
  ENTRY_SK_PREFIX,
  type Item,
  isNewer,
  type LedgerKeys,
  PK,
  RECORD_SK,
  SK,
  TTL_ATTRIBUTE,
  versioned,
} from '../store/index.ts';
import { UNCHECKED_CAUSES } from './amounts.ts';
import {
  decodeClaims,
  decodeDeltas,
  decodeViolations,
  encodeClaims,
  encodeDeltas,
  encodeViolations,
} from './claim-lines.ts';
import type { AdjustmentEntry, ClosingEntry, CorrectionEntry, EntryCause } from './entry.ts';
import type { Counter, CounterAmounts, JobFacts, JobRecord, JobState, UncheckedCause } from './ledger.ts';
import { decodeRequest, encodeRequest } from './request-text.ts';
import { counterExpiresAtSeconds, expiresAtSeconds, isOfUser, recordExpiresAtSeconds } from './retention.ts';
import type { CounterReset, StoredItem } from './store.ts';

type Attributes = Record<string, AttributeValue>;

const text = (value: string): AttributeValue => ({ S: value });
const number = (value: number): AttributeValue => ({ N: String(value) });
const lines = (values: readonly string[]): AttributeValue => ({ L: values.map(text) });

const ttl = (seconds: number | undefined): Attributes =>
  seconds === undefined ? {} : { [TTL_ATTRIBUTE]: number(seconds) };

const readText = (item: Item, name: string): string => item[name]?.S ?? '';
const readNumber = (item: Item, name: string): number => Number(item[name]?.N ?? 0);
const readLines = (item: Item, name: string): string[] => (item[name]?.L ?? []).map((line) => line.S ?? '');

/** Attribute names of {@link JobFacts}. */
const FACT_TEXTS = {
  jobName: 'jn',
  projectPath: 'pp',
  runnerClass: 'rc',
  priceVersion: 'pv',
  policyVersion: 'ov',
  userPseudonym: 'up',
  round: 'rd',
} as const;
const FACT_NUMBERS = {
  projectId: 'pi',
  rootId: 'ri',
  groupId: 'gi',
  pipelineId: 'li',
  userId: 'ui',
  estimateSeconds: 'es',
  costMicros: 'cm',
  microsPerMinute: 'mm',
  timeoutSeconds: 'to',
  runnerId: 'rn',
} as const;
const FACT_TEXT_NAMES = Object.entries(FACT_TEXTS) as [keyof typeof FACT_TEXTS, string][];
const FACT_NUMBER_NAMES = Object.entries(FACT_NUMBERS) as [keyof typeof FACT_NUMBERS, string][];

/** The whole record, whatever its size; {@link recordItem} of record-size.ts keeps it small. */
export function encodeRecord(record: JobRecord, keys: LedgerKeys): Item {
  const { pk, sk } = keys.record(record.jobId);
  const item: Attributes = {
    [PK]: text(pk),
    [SK]: text(sk),
    ...versioned,
    st: text(record.state),
    g: number(record.generation),
    r: number(record.rev),
    an: text(record.answered),
    at: number(record.decidedAtMs),
  };
  for (const [fact, name] of FACT_TEXT_NAMES) {
    const value = record.facts[fact];
    if (value !== undefined) item[name] = text(value);
  }
  for (const [fact, name] of FACT_NUMBER_NAMES) {
    const value = record.facts[fact];
    if (value !== undefined) item[name] = number(value);
  }
  const { groupIds } = record.facts;
  if (groupIds !== undefined) item.gs = text(groupIds.join('/'));
  if (record.facts.timeoutAssumed) item.ta = { BOOL: true };
  if (record.facts.asked !== undefined) item.rq = text(encodeRequest(record.facts.asked));
  if (record.claims.length > 0) item.cl = lines(encodeClaims(record.claims));
  if (record.violations.length > 0) item.vi = text(encodeViolations(record.violations));
  if (record.shadow.length > 0) item.sh = text(encodeViolations(record.shadow));
  if (record.unchecked !== undefined) item.un = text(record.unchecked);
  if (record.flagged) item.fl = { BOOL: true };
  if (record.entries > 0) item.ne = number(record.entries);
  if (record.durationSeconds !== undefined) item.du = number(record.durationSeconds);
  if (record.reportedSeconds !== undefined) item.ds = number(record.reportedSeconds);
  if (record.dueAtMs !== undefined) {
    item[DUE_PK] = text(keys.duePk(record.jobId));
    item[DUE_AT] = number(record.dueAtMs);
  }
  if (record.endedAtMs !== undefined) {
    item.en = number(record.endedAtMs);
    Object.assign(item, ttl(recordExpiresAtSeconds(record)));
  }
  return item;
}

export function decodeRecord(item: Item, keys: LedgerKeys): JobRecord {
  return {
    jobId: keys.jobIdOf(readText(item, PK)),
    state: readText(item, 'st') as JobState,
    generation: readNumber(item, 'g'),
    rev: readNumber(item, 'r'),
    facts: decodeFacts(item),
    claims: decodeClaims(readLines(item, 'cl')),
    violations: item.vi?.S === undefined ? [] : decodeViolations(item.vi.S),
    shadow: item.sh?.S === undefined ? [] : decodeViolations(item.sh.S),
    answered: readText(item, 'an') as JobRecord['answered'],
    ...(item.un?.S === undefined ? {} : { unchecked: item.un.S as UncheckedCause }),
    flagged: item.fl?.BOOL === true,
    decidedAtMs: readNumber(item, 'at'),
    ...(item[DUE_AT] === undefined ? {} : { dueAtMs: readNumber(item, DUE_AT) }),
    ...(item.en === undefined ? {} : { endedAtMs: readNumber(item, 'en') }),
    ...(item.du === undefined ? {} : { durationSeconds: readNumber(item, 'du') }),
    ...(item.ds === undefined ? {} : { reportedSeconds: readNumber(item, 'ds') }),
    entries: readNumber(item, 'ne'),
  };
}

function decodeFacts(item: Item): JobFacts {
  const facts: Record<string, string | number | boolean | readonly number[] | RecordedRequest> = {
    runnerClass: '',
    priceVersion: '',
    policyVersion: '',
    estimateSeconds: 0,
    costMicros: 0,
    microsPerMinute: 0,
    timeoutSeconds: 0,
  };
  for (const [fact, name] of FACT_TEXT_NAMES)
    if (item[name] !== undefined) facts[fact] = readText(item, name);
  for (const [fact, name] of FACT_NUMBER_NAMES)
    if (item[name] !== undefined) facts[fact] = readNumber(item, name);
  if (item.gs?.S !== undefined) facts.groupIds = item.gs.S.split('/').map(Number);
  if (item.ta?.BOOL === true) facts.timeoutAssumed = true;
  const asked = item.rq?.S === undefined ? undefined : decodeRequest(item.rq.S);
  if (asked !== undefined) facts.asked = asked;
  return facts as unknown as JobFacts;
}

/** When a closing entry was written. */
export const CLOSED_AT = 'at';

/** Attribute names of a counter; `ADD` in a transaction names them too. */
export const COMMITTED = 'c';
export const FITTED = 'f';
export const SETTLED = 's';
export const REV = 'r';
export const UNCHECKED: Readonly<Record<UncheckedCause, string>> = {
  exempt: 'ux',
  unmetered: 'um',
  bypass: 'ub',
};

function encodeAmounts(amounts: CounterAmounts): Attributes {
  const item: Attributes = {
    [COMMITTED]: number(amounts.committed),
    [FITTED]: number(amounts.fitted),
    [SETTLED]: number(amounts.settled),
  };
  for (const cause of UNCHECKED_CAUSES) {
    if (amounts.unchecked[cause] !== 0) item[UNCHECKED[cause]] = number(amounts.unchecked[cause]);
  }
  return item;
}

const decodeAmounts = (item: Item): CounterAmounts => ({
  committed: readNumber(item, COMMITTED),
  fitted: readNumber(item, FITTED),
  settled: readNumber(item, SETTLED),
  unchecked: {
    exempt: readNumber(item, UNCHECKED.exempt),
    unmetered: readNumber(item, UNCHECKED.unmetered),
    bypass: readNumber(item, UNCHECKED.bypass),
  },
});

/** @param closeAtMs - when its period is to be closed: it is in the due index as long as that is not done. */
export const encodeCounter = (
  counter: Counter,
  keys: LedgerKeys,
  expiresAtSeconds?: number,
  closeAtMs?: number,
): Item => {
  const { pk, sk } = keys.counter(counter.key);
  return {
    [PK]: text(pk),
    [SK]: text(sk),
    ...versioned,
    ...encodeAmounts(counter),
    [REV]: number(counter.rev),
    ...(counter.drifts && { dr: { BOOL: true } }),
    ...ttl(expiresAtSeconds),
    ...(closeAtMs !== undefined && {
      [DUE_PK]: text(keys.closingPk(counter.key)),
      [DUE_AT]: number(closeAtMs),
    }),
  };
};

/** A counter as a reset leaves it. */
export const encodeReset = (write: CounterReset, keys: LedgerKeys): Item => {
  const { key, amounts, rev, drifts, expiresAtSeconds, closeAtMs } = write;
  const counter = { key, ...amounts, rev: rev + 1, ...(drifts && { drifts }) };
  return encodeCounter(counter, keys, expiresAtSeconds, closeAtMs);
};

export const decodeCounter = (item: Item, keys: LedgerKeys): Counter => ({
  key: keys.counterOf(readText(item, PK)),
  ...decodeAmounts(item),
  rev: readNumber(item, REV),
  ...(item.dr?.BOOL === true && { drifts: true }),
});

export function encodeEntry(entry: CorrectionEntry, keys: LedgerKeys): Item {
  const { pk, sk } = keys.entry(entry.jobId, entry.number);
  return {
    [PK]: text(pk),
    [SK]: text(sk),
    ...versioned,
    g: number(entry.generation),
    ca: text(entry.cause),
    at: number(entry.atMs),
    de: lines(encodeDeltas(entry.deltas)),
    ...(entry.unchecked === undefined ? {} : { un: text(entry.unchecked) }),
    ...ttl(expiresAtSeconds(entry.atMs, entry.deltas)),
  };
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

export const encodeClosing = (closing: ClosingEntry, keys: LedgerKeys): Item => {
  const { pk, sk } = keys.closing(closing.key);
  return {
    [PK]: text(pk),
    [SK]: text(sk),
    ...versioned,
    ...encodeAmounts(closing),
    [CLOSED_AT]: number(closing.closedAtMs),
    ...(closing.adjusted !== 0 && { ad: number(closing.adjusted) }),
  };
};

const decodeClosing = (item: Item, keys: LedgerKeys): ClosingEntry => ({
  key: keys.counterOf(readText(item, PK)),
  ...decodeAmounts(item),
  closedAtMs: readNumber(item, CLOSED_AT),
  adjusted: readNumber(item, 'ad'),
});

/** Never expires, unless it is a user's: people ask about what was done by hand long after. */
export function encodeAdjustment(entry: AdjustmentEntry, keys: LedgerKeys): Item {
  const { pk, sk } = keys.adjustment(entry.key, entry.id);
  return {
    [PK]: text(pk),
    [SK]: text(sk),
    ...versioned,
    am: number(entry.amount),
    re: text(entry.reason),
    by: text(entry.actor),
    at: number(entry.atMs),
    ...ttl(isOfUser(entry.key) ? counterExpiresAtSeconds(entry.key, entry.atMs) : undefined),
  };
}

export const decodeAdjustment = (item: Item, keys: LedgerKeys): AdjustmentEntry => ({
  key: keys.counterOf(readText(item, PK)),
  id: readText(item, SK).slice(ADJUSTMENT_SK_PREFIX.length),
  amount: readNumber(item, 'am'),
  reason: readText(item, 're'),
  actor: readText(item, 'by'),
  atMs: readNumber(item, 'at'),
});

/** One item of a scan. `unknown`: this version does not know its kind or form; it is taken for nothing else. */
export function decodeItem(item: Item, keys: LedgerKeys): StoredItem {
  const sk = readText(item, SK);
  if (isNewer(item)) return { kind: 'unknown', sk };
  if (sk === RECORD_SK) return { kind: 'record', record: decodeRecord(item, keys) };
  if (sk === COUNTER_SK) return { kind: 'counter', counter: decodeCounter(item, keys) };
  if (sk.startsWith(ENTRY_SK_PREFIX)) return { kind: 'entry', entry: decodeEntry(item, keys) };
  if (sk.startsWith(ADJUSTMENT_SK_PREFIX))
    return { kind: 'adjustment', adjustment: decodeAdjustment(item, keys) };
  if (sk === CLOSING_SK) return { kind: 'closing', closing: decodeClosing(item, keys) };
  return { kind: 'unknown', sk };
}
