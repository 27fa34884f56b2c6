/** Converts counters and their side items to table items and back. */
import {
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
  versioned,
} from '../store/index.ts';
import { UNCHECKED_CAUSES } from './amounts.ts';
import type { ClosingEntry, CorrectionEntry, EntryCause } from './entry.ts';
import type { Counter, CounterAmounts, UncheckedCause } from './ledger.ts';
import {
  decodeRecord,
  type ItemValues,
  numberValue,
  readLines,
  readNumber,
  readText,
  textValue,
  textValues,
  ttl,
} from './record-item.ts';
import { decodeDeltas, encodeDeltas } from './record-lines.ts';
import { expiresAtSeconds } from './retention.ts';
import type { CounterReset, StoredItem } from './store.ts';

/** When a closing entry was written. */
export const CLOSED_AT = 'at';

/** Attribute names of a counter; `ADD` in a transaction names them too. */
export const COMMITTED = 'c';
export const FITTED = 'f';
export const SETTLED = 's';
export const REV = 'r';
export const RECLAIMED_UNTIL = 'ru';
export const DRIFTS = 'dr';
/** One attribute for each job that is being retried, `rv4711`: the number of its pipeline. */
export const reservedName = (jobId: number): string => `${RESERVED_PREFIX}${jobId}`;
const RESERVED_PREFIX = 'rv';
export const UNCHECKED: Readonly<Record<UncheckedCause, string>> = {
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
    [PK]: textValue(pk),
    [SK]: textValue(sk),
    ...versioned,
    ...encodeAmounts(counter),
    [REV]: numberValue(counter.rev),
    ...(counter.drifts && { [DRIFTS]: { BOOL: true } }),
    ...ttl(expiresAtSeconds),
    ...(closeAtMs !== undefined && {
      [DUE_PK]: textValue(keys.closingPk(counter.key)),
      [DUE_AT]: numberValue(closeAtMs),
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
  ...(item[RECLAIMED_UNTIL] !== undefined && { reclaimedUntilMs: readNumber(item, RECLAIMED_UNTIL) }),
  ...(item[DRIFTS]?.BOOL === true && { drifts: true }),
  ...reservedOf(item),
});

function reservedOf(item: Item): Pick<Counter, 'reserved'> {
  const names = Object.keys(item).filter((name) => name.startsWith(RESERVED_PREFIX));
  if (names.length === 0) return {};
  const reserved = names.map((name) => ({
    jobId: Number(name.slice(RESERVED_PREFIX.length)),
    pipelineId: readNumber(item, name),
  }));
  return { reserved };
}

export function encodeEntry(entry: CorrectionEntry, keys: LedgerKeys): Item {
  const { pk, sk } = keys.entry(entry.jobId, entry.number);
  return {
    [PK]: textValue(pk),
    [SK]: textValue(sk),
    ...versioned,
    g: numberValue(entry.generation),
    ca: textValue(entry.cause),
    at: numberValue(entry.atMs),
    de: textValues(encodeDeltas(entry.deltas)),
    ...(entry.unchecked === undefined ? {} : { un: textValue(entry.unchecked) }),
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
    [PK]: textValue(pk),
    [SK]: textValue(sk),
    ...versioned,
    ...encodeAmounts(closing),
    [CLOSED_AT]: numberValue(closing.closedAtMs),
  };
};

const decodeClosing = (item: Item, keys: LedgerKeys): ClosingEntry => ({
  key: keys.counterOf(readText(item, PK)),
  ...decodeAmounts(item),
  closedAtMs: readNumber(item, CLOSED_AT),
  ...(item.ad !== undefined && { adjusted: readNumber(item, 'ad') }),
});

/** Credits by hand of older versions. */
const CREDIT_SK_PREFIX = 'adjustment#';

/** One item of a scan. `unknown`: this version does not know its kind or form; it is taken for nothing else. */
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
