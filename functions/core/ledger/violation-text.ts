/** Violations inside a record: JSON with short names, because three reasons must fit beside the claims in 1 KB. */
import type { Violation } from '../../../policies/reason.ts';

export const encodeViolations = (violations: readonly Violation[]): string =>
  JSON.stringify(renamed(violations, SHORT));

/** What is not a violation any more (an older version's leftovers) is left out: records are never refused. */
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
