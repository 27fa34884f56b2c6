/** A job's record ↔ its item. Attribute names are short because every byte is stored with every job. */
import type { RecordedRequest } from '../../../policies/request/recorded.ts';
import {
  type AttributeValue,
  DUE_AT,
  DUE_PK,
  type Item,
  type LedgerKeys,
  PK,
  SK,
  TTL_ATTRIBUTE,
  versioned,
} from '../store/index.ts';
import type { JobFacts, JobRecord, JobState, UncheckedCause } from './ledger.ts';
import {
  decodeClaims,
  decodeRequest,
  decodeViolations,
  encodeClaims,
  encodeRequest,
  encodeViolations,
} from './record-lines.ts';
import { recordExpiresAtSeconds } from './retention.ts';

export type ItemValues = Record<string, AttributeValue>;

export const textValue = (value: string): AttributeValue => ({ S: value });
export const numberValue = (value: number): AttributeValue => ({ N: String(value) });
export const textValues = (values: readonly string[]): AttributeValue => ({ L: values.map(textValue) });

export const ttl = (seconds: number | undefined): ItemValues =>
  seconds === undefined ? {} : { [TTL_ATTRIBUTE]: numberValue(seconds) };

export const readText = (item: Item, name: string): string => item[name]?.S ?? '';
export const readNumber = (item: Item, name: string): number => Number(item[name]?.N ?? 0);
export const readLines = (item: Item, name: string): string[] =>
  (item[name]?.L ?? []).map((line) => line.S ?? '');

/** Attribute names of {@link JobFacts}. */
const FACT_TEXTS = {
  jobName: 'jn',
  projectPath: 'pp',
  runnerClass: 'rc',
  priceVersion: 'pv',
  policyVersion: 'ov',
  userPseudonym: 'up',
  round: 'rd',
  outcome: 'oc',
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
  retryCount: 'ry',
  queuedSeconds: 'qu',
} as const;
const FACT_TEXT_NAMES = Object.entries(FACT_TEXTS) as [keyof typeof FACT_TEXTS, string][];
const FACT_NUMBER_NAMES = Object.entries(FACT_NUMBERS) as [keyof typeof FACT_NUMBERS, string][];

const LABEL_CHARACTERS_MAX = 60;

/** Cuts a long label for a record that must stay small. The ellipsis shows that it was cut. */
export function shortLabel(label: string): string {
  const characters = [...label];
  return characters.length <= LABEL_CHARACTERS_MAX
    ? label
    : `${characters.slice(0, LABEL_CHARACTERS_MAX - 1).join('')}…`;
}

/** Encodes the whole record without a bound; {@link recordItem} of dynamo-write.ts keeps it small. */
export function encodeRecord(record: JobRecord, keys: LedgerKeys): Item {
  const { pk, sk } = keys.record(record.jobId);
  const item: ItemValues = {
    [PK]: textValue(pk),
    [SK]: textValue(sk),
    ...versioned,
    st: textValue(record.state),
    g: numberValue(record.generation),
    r: numberValue(record.rev),
    an: textValue(record.answered),
    at: numberValue(record.decidedAtMs),
  };
  for (const [fact, name] of FACT_TEXT_NAMES) {
    const value = record.facts[fact];
    if (value !== undefined) item[name] = textValue(value);
  }
  for (const [fact, name] of FACT_NUMBER_NAMES) {
    const value = record.facts[fact];
    if (value !== undefined) item[name] = numberValue(value);
  }
  const { groupIds } = record.facts;
  if (groupIds !== undefined) item.gs = textValue(groupIds.join('/'));
  if (record.facts.timeoutAssumed) item.ta = { BOOL: true };
  if (record.facts.asked !== undefined) item.rq = textValue(encodeRequest(record.facts.asked));
  if (record.claims.length > 0) item.cl = textValues(encodeClaims(record.claims));
  if (record.violations.length > 0) item.vi = textValue(encodeViolations(record.violations));
  if (record.shadow.length > 0) item.sh = textValue(encodeViolations(record.shadow));
  if (record.unchecked !== undefined) item.un = textValue(record.unchecked);
  if (record.flagged) item.fl = { BOOL: true };
  if (record.entries > 0) item.ne = numberValue(record.entries);
  if (record.durationSeconds !== undefined) item.du = numberValue(record.durationSeconds);
  if (record.reportedSeconds !== undefined) item.ds = numberValue(record.reportedSeconds);
  if (record.dueAtMs !== undefined) {
    item[DUE_PK] = textValue(keys.duePk(record.jobId));
    item[DUE_AT] = numberValue(record.dueAtMs);
  }
  if (record.endedAtMs !== undefined) {
    item.en = numberValue(record.endedAtMs);
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
