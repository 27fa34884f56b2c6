/** A job's record ↔ its item. Attribute names are short because every byte is stored with every job. */

import { isRecord } from '../../../policies/document/reading.ts';
import type { Violation } from '../../../policies/reason.ts';
import type { FilledFact, RecordedRequest, RecordedService } from '../../../policies/request/recorded.ts';
import { unitOfLetter, unitRow } from '../../../policies/unit.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { itemAt } from '../store/calls.ts';
import { escapePart, type LedgerKeys, unescapePart } from '../store/keys.ts';
import { type AttributeValue, DUE_AT, DUE_PK, type Item, PK, TTL_ATTRIBUTE } from '../store/operation.ts';
import type { EntryDelta, JobFacts, JobRecord, JobState, RecordClaim, UncheckedCause } from './ledger.ts';
import { recordExpiresAtSeconds } from './retention.ts';

export type ItemValues = Record<string, AttributeValue>;

export const textValue = (value: string): AttributeValue => ({ S: value });
export const numberValue = (value: number): AttributeValue => ({ N: String(value) });
export const textValues = (values: readonly string[]): AttributeValue => ({ L: values.map(textValue) });

export const ttl = (seconds: number | undefined): ItemValues =>
  seconds === undefined ? {} : { [TTL_ATTRIBUTE]: numberValue(seconds) };

export const readText = (item: Item, name: string): string => item[name]?.S ?? '';
export const readNumber = (item: Item, name: string): number => Number(item[name]?.N ?? 0);
export const optionalNumber = (item: Item, name: string): number | undefined =>
  item[name]?.N === undefined ? undefined : Number(item[name].N);
export const readLines = (item: Item, name: string): string[] =>
  (item[name]?.L ?? []).map((line) => line.S ?? '');

/** Names in items of all facts that are texts or numbers: `tsc` finds a fact that is missing, and that a record would lose. */
type FactNames = {
  readonly [Name in keyof JobFacts as Exclude<JobFacts[Name], undefined> extends string | number
    ? Name
    : never]-?: string;
};
const FACTS: FactNames = {
  jobName: 'jn',
  projectPath: 'pp',
  runnerClass: 'rc',
  priceVersion: 'pv',
  policyVersion: 'ov',
  userPseudonym: 'up',
  round: 'rd',
  outcome: 'oc',
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
};
const FACT_NAMES = Object.entries(FACTS) as [keyof FactNames, string][];

const LABEL_CHARACTERS_MAX = 60;

/** Cuts a long label for a record that must stay small. The ellipsis shows that it was cut. */
export function shortLabel(label: string): string {
  const characters = [...label];
  return characters.length <= LABEL_CHARACTERS_MAX
    ? label
    : `${characters.slice(0, LABEL_CHARACTERS_MAX - 1).join('')}…`;
}

export function encodeRecord(record: JobRecord, keys: LedgerKeys): Item {
  const item: ItemValues = {
    ...itemAt(keys.record(record.jobId), {}),
    st: textValue(record.state),
    g: numberValue(record.generation),
    r: numberValue(record.rev),
    an: textValue(record.answered),
    at: numberValue(record.decidedAtMs),
  };
  for (const [fact, name] of FACT_NAMES) {
    const value = record.facts[fact];
    if (value !== undefined) item[name] = typeof value === 'number' ? numberValue(value) : textValue(value);
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
    flagged: item.fl?.BOOL === true,
    decidedAtMs: readNumber(item, 'at'),
    entries: readNumber(item, 'ne'),
    ...withoutAbsent({
      unchecked: item.un?.S as UncheckedCause | undefined,
      dueAtMs: optionalNumber(item, DUE_AT),
      endedAtMs: optionalNumber(item, 'en'),
      durationSeconds: optionalNumber(item, 'du'),
      reportedSeconds: optionalNumber(item, 'ds'),
    }),
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
  for (const [fact, name] of FACT_NAMES) {
    const value = item[name]?.S ?? optionalNumber(item, name);
    if (value !== undefined) facts[fact] = value;
  }
  if (item.gs?.S !== undefined) facts.groupIds = item.gs.S.split('/').map(Number);
  if (item.ta?.BOOL === true) facts.timeoutAssumed = true;
  const asked = item.rq?.S === undefined ? undefined : decodeRequest(item.rq.S);
  if (asked !== undefined) facts.asked = asked;
  return facts as unknown as JobFacts;
}

// Compact text forms of the largest parts of a record. Claims and deltas are lines:
// `group/101|money-month|2026-11|mf|480000|480000|0`. An empty field repeats the line before, so 20 levels
// of one limit cost 20 bytes each, and 24 counters fit in a 1 KB record.

const encodeClaims = (claims: readonly RecordClaim[]): string[] =>
  ditto(claims.map((claim) => [...head(claim), `${claim.held}`, `${claim.counted}`, `${claim.corrected}`]));

const decodeClaims = (lines: readonly string[]): RecordClaim[] =>
  undoDitto(lines, CLAIM_FIELDS).map((fields) => ({
    ...readHead(fields),
    held: Number(fields[4]),
    counted: Number(fields[5]),
    corrected: Number(fields[6]),
  }));

export const encodeDeltas = (deltas: readonly EntryDelta[]): string[] =>
  ditto(deltas.map((delta) => [...head(delta), `${delta.delta}`]));

export const decodeDeltas = (lines: readonly string[]): EntryDelta[] =>
  undoDitto(lines, DELTA_FIELDS).map((fields) => ({ ...readHead(fields), delta: Number(fields[4]) }));

const CLAIM_FIELDS = 7;
const DELTA_FIELDS = 5;

type Head = Pick<RecordClaim, 'counter' | 'unit' | 'fitted' | 'checked'>;

/** Flags: the unit's letter, `f` counts in fitted, `u` did not ask. */
const head = ({ counter, unit, fitted, checked }: Head): string[] => [
  escapePart(counter.subject),
  escapePart(counter.limit),
  escapePart(counter.period),
  `${unitRow(unit).letter}${fitted ? 'f' : ''}${checked ? '' : 'u'}`,
];

function readHead([subject = '', limit = '', period = '', flags = '']: readonly string[]): Head {
  return {
    counter: { subject: unescapePart(subject), limit: unescapePart(limit), period: unescapePart(period) },
    unit: unitOfLetter(flags.charAt(0)),
    fitted: flags.includes('f'),
    checked: !flags.includes('u'),
  };
}

function ditto(rows: readonly string[][]): string[] {
  let before: readonly string[] = [];
  return rows.map((row) => {
    const line = row.map((field, index) => (field === before[index] ? '' : field)).join('|');
    before = row;
    return line;
  });
}

function undoDitto(lines: readonly string[], fields: number): string[][] {
  let before: readonly string[] = [];
  return lines.map((line) => {
    const row = line.split('|');
    const full = Array.from({ length: fields }, (_, index) => row[index] || (before[index] ?? ''));
    before = full;
    return full;
  });
}

// Violations as JSON with short names: three reasons must fit next to the claims in 1 KB.
const encodeViolations = (violations: readonly Violation[]): string =>
  JSON.stringify(renamed(violations, SHORT));

function decodeViolations(text: string): Violation[] {
  const parsed: unknown = renamed(JSON.parse(text), LONG);
  return Array.isArray(parsed) ? parsed.filter(isViolation) : [];
}

const isViolation = (value: unknown): value is Violation =>
  isRecord(value) &&
  ['rule', 'class', 'mode'].every((name) => name in value) &&
  isRecord(value.reason) &&
  'code' in value.reason;

/** Names not listed here travel as they are, so a new reason needs no change. Never reuse a letter. */
const SHORT: Readonly<Record<string, string>> = {
  rule: 'r',
  class: 'k',
  mode: 'm',
  reason: 'w',
  code: 'c',
  limit: 'l',
  subject: 's',
  subjectLabel: 'sl',
  unit: 'u',
  limitAmount: 'la',
  asked: 'a',
  periodLabel: 'pl',
  resetsAtMs: 't',
  zone: 'z',
  owner: 'o',
  committed: 'cm',
  settled: 'st',
};
const LONG: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(SHORT).map(([long, short]) => [short, long]),
);

function renamed(value: unknown, names: Readonly<Record<string, string>>): unknown {
  if (Array.isArray(value)) return value.map((element) => renamed(element, names));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [names[name] ?? name, renamed(inner, names)]),
  );
}

// Fields that rules read, as JSON with short names: they must fit next to the claims in 1 KB.

/** Never reuse a letter. */
const NAMES: Readonly<Record<keyof RecordedRequest | keyof RecordedService, string>> = {
  image: 'i',
  name: 'n',
  pullPolicies: 'p',
  dockerUser: 'd',
  kubernetesUser: 'k',
  services: 's',
  ref: 'r',
  refProtected: 'rp',
  pipelineSource: 'ps',
  mergeRequestId: 'mr',
  scheduleDigest: 'sc',
  byBot: 'bo',
  environment: 'e',
  projectVisibility: 'v',
  jobTags: 'jt',
  runnerTags: 't',
  runnerId: 'ri',
  variables: 'va',
  suspicious: 'su',
  filled: 'f',
  jobName: 'jn',
  projectPath: 'pp',
};
const LONG_FIELDS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(NAMES).map(([long, short]) => [short, long]),
);
const FILLED: Readonly<Record<FilledFact, string>> = {
  namespaceId: 'n',
  rootNamespaceId: 'r',
  projectPath: 'p',
  timeoutSeconds: 't',
};

export const encodeRequest = (request: RecordedRequest): string => JSON.stringify(shortened(request));

export function decodeRequest(text: string): RecordedRequest | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isRecord(parsed) ? (lengthened(parsed) as RecordedRequest) : undefined;
}

function shortened(request: RecordedRequest | RecordedService): Readonly<Record<string, unknown>> {
  const short: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(request))
    short[NAMES[name as keyof typeof NAMES]] = CODECS[name]?.encode(value) ?? value;
  return short;
}

const lengthened = (short: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(short).flatMap(([letter, value]) => {
      const name = Object.hasOwn(LONG_FIELDS, letter) ? LONG_FIELDS[letter] : undefined;
      return name === undefined ? [] : [[name, CODECS[name]?.decode(value) ?? value]];
    }),
  );

const CODECS: Readonly<Record<string, { encode(value: unknown): unknown; decode(value: unknown): unknown }>> =
  {
    services: {
      encode: (value) => (value as readonly RecordedService[]).map(shortened),
      decode: (value) => (Array.isArray(value) ? value.filter(isRecord).map(lengthened) : []),
    },
    filled: {
      encode: (value) => (value as readonly FilledFact[]).map((fact) => FILLED[fact]).join(''),
      decode: (value) =>
        (Object.keys(FILLED) as FilledFact[]).filter((fact) => String(value).includes(FILLED[fact])),
    },
    variables: {
      encode: (value) => (value === 'some' ? 1 : 0),
      decode: (value) => (value === 1 ? 'some' : 'none'),
    },
    byBot: { encode: (value) => (value === true ? 1 : 0), decode: (value) => value === 1 },
  };
