/**
 * Compact text forms of the largest parts of a record. Claims and deltas are lines:
 * `group/101|money-month|2026-11|mf|480000|480000|0`. An empty field repeats the line before, so 20 levels
 * of one limit cost 20 bytes each, and 24 counters fit in a 1 KB record.
 */

import { isRecord } from '../../../policies/document/reading.ts';
import type { Violation } from '../../../policies/reason.ts';
import type { FilledFact, RecordedRequest, RecordedService } from '../../../policies/request/recorded.ts';
import { unitOfLetter, unitRow } from '../../../policies/units/unit.ts';
import { escapePart, unescapePart } from '../store/index.ts';
import type { EntryDelta } from './entry.ts';
import type { RecordClaim } from './ledger.ts';

export const encodeClaims = (claims: readonly RecordClaim[]): string[] =>
  ditto(claims.map((claim) => [...head(claim), `${claim.held}`, `${claim.counted}`, `${claim.corrected}`]));

export const decodeClaims = (lines: readonly string[]): RecordClaim[] =>
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
export const encodeViolations = (violations: readonly Violation[]): string =>
  JSON.stringify(renamed(violations, SHORT));

/** Skips violations of older versions that no longer exist, so that a record is always readable. */
export function decodeViolations(text: string): Violation[] {
  const parsed: unknown = renamed(JSON.parse(text), LONG);
  return Array.isArray(parsed) ? parsed.filter(isViolation) : [];
}

const isViolation = (value: unknown): value is Violation =>
  typeof value === 'object' &&
  value !== null &&
  'rule' in value &&
  'class' in value &&
  'mode' in value &&
  'reason' in value &&
  typeof value.reason === 'object' &&
  value.reason !== null &&
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
  if (typeof value !== 'object' || value === null) return value;
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

/** Returns undefined for unknown text, so that a record is always readable. */
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
  for (const [name, value] of Object.entries(request)) {
    const letter = NAMES[name as keyof typeof NAMES];
    if (name === 'services') short[letter] = (value as readonly RecordedService[]).map(shortened);
    else if (name === 'filled')
      short[letter] = (value as readonly FilledFact[]).map((fact) => FILLED[fact]).join('');
    else if (name === 'variables') short[letter] = value === 'some' ? 1 : 0;
    else if (name === 'byBot') short[letter] = value === true ? 1 : 0;
    else short[letter] = value;
  }
  return short;
}

function lengthened(short: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const long: Record<string, unknown> = {};
  for (const [letter, value] of Object.entries(short)) {
    const name = Object.hasOwn(LONG_FIELDS, letter) ? LONG_FIELDS[letter] : undefined;
    if (name === undefined) continue;
    const read = readers[name] ?? ((each: unknown) => each);
    const known = read(value);
    if (known !== undefined) long[name] = known;
  }
  return long;
}

const readText = (value: unknown): unknown => (typeof value === 'string' ? value : undefined);
const readTexts = (value: unknown): unknown =>
  Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : undefined;

const readers: Readonly<Record<string, (value: unknown) => unknown>> = {
  image: readText,
  name: readText,
  pullPolicies: readTexts,
  dockerUser: readText,
  kubernetesUser: readText,
  services: (value) =>
    Array.isArray(value)
      ? value
          .filter(isRecord)
          .map(lengthened)
          .filter((service) => 'name' in service)
      : undefined,
  ref: readText,
  refProtected: (value) => (typeof value === 'boolean' ? value : undefined),
  pipelineSource: readText,
  mergeRequestId: (value) => (Number.isSafeInteger(value) ? value : undefined),
  scheduleDigest: readText,
  byBot: (value) => value === 1,
  environment: readText,
  projectVisibility: readText,
  jobTags: readTexts,
  runnerTags: readTexts,
  runnerId: (value) => (Number.isSafeInteger(value) ? value : undefined),
  variables: (value) => (value === 1 ? 'some' : 'none'),
  suspicious: readTexts,
  filled: (value) =>
    (Object.keys(FILLED) as FilledFact[]).filter((fact) => String(value).includes(FILLED[fact])),
  jobName: readText,
  projectPath: readText,
};
