/** Whether what a service said of one job is a verdict, down to the last field that anybody here looks at. */
import { MODES } from '../policies/mode.ts';
import type { Violation } from '../policies/reason.ts';
import type { FallbackCause, Verdict } from './verdict.ts';

const UNDECIDED_CAUSES: ReadonlySet<unknown> = new Set<FallbackCause>([
  'invalid',
  'deadline',
  'contended',
  'unavailable',
  'error',
]);
const VIOLATION_MODES: readonly unknown[] = MODES.filter((mode) => mode !== 'off');

/** Facts of a reason or of a decision's terms. Each may be absent; a newer service may send more. */
const TEXTS = [
  'limit',
  'subject',
  'subjectLabel',
  'unit',
  'periodLabel',
  'zone',
  'owner',
  'contact',
  'runnerClass',
  'currency',
  'group',
];
const NUMBERS = [
  'limitAmount',
  'overdrawn',
  'committed',
  'settled',
  'resetsAtMs',
  'estimateSeconds',
  'costMicros',
];

export function isVerdict(value: unknown): value is Verdict {
  if (!isObject(value)) return false;
  switch (value.outcome) {
    case 'admitted':
      return isDecided(value);
    case 'rejected':
      return (
        isDecided(value) &&
        isFilled(value.text) &&
        isViolations(value.violations) &&
        value.violations.length > 0
      );
    case 'undecided':
      return UNDECIDED_CAUSES.has(value.cause);
    default:
      return false;
  }
}

const isDecided = ({ decisionId, shadow, terms }: Readonly<Record<string, unknown>>): boolean =>
  isFilled(decisionId) && isViolations(shadow) && (terms === undefined || isFacts(terms));

const isViolations = (value: unknown): value is readonly Violation[] =>
  Array.isArray(value) &&
  value.every(
    (entry) =>
      isObject(entry) &&
      isFilled(entry.rule) &&
      isFilled(entry.class) &&
      VIOLATION_MODES.includes(entry.mode) &&
      isFacts(entry.reason) &&
      isFilled(entry.reason.code),
  );

const isFacts = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isObject(value) &&
  TEXTS.every((name) => value[name] === undefined || typeof value[name] === 'string') &&
  NUMBERS.every((name) => value[name] === undefined || Number.isFinite(value[name]));

const isFilled = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
