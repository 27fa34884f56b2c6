import type { Violation } from '../policies/reason.ts';
import { type FallbackCause, undecided, type Verdict } from './verdict.ts';

const UNDECIDED_CAUSES: ReadonlySet<unknown> = new Set<FallbackCause>([
  'invalid',
  'deadline',
  'contended',
  'unavailable',
  'error',
]);

/**
 * Reads `{decisions: [...]}`, one per request. Nothing if the envelope is not that; one decision that is not of the
 * contract spoils itself only.
 */
export function parseVerdicts(body: unknown, count: number): readonly Verdict[] | undefined {
  const decisions = isObject(body) ? body.decisions : undefined;
  if (!Array.isArray(decisions) || decisions.length !== count) return undefined;
  return decisions.map((decision) => (isVerdict(decision) ? decision : undecided('malformed')));
}

function isVerdict(value: unknown): value is Verdict {
  if (!isObject(value)) return false;
  switch (value.outcome) {
    case 'admitted':
      return isFilled(value.decisionId) && isViolations(value.shadow);
    case 'rejected':
      return (
        isFilled(value.decisionId) &&
        isFilled(value.text) &&
        isViolations(value.shadow) &&
        isViolations(value.violations) &&
        value.violations.length > 0
      );
    case 'undecided':
      return UNDECIDED_CAUSES.has(value.cause);
    default:
      return false;
  }
}

/** As deep as the relay looks: names, class, mode and the reason's code. */
const isViolations = (value: unknown): value is readonly Violation[] =>
  Array.isArray(value) &&
  value.every(
    (entry) =>
      isObject(entry) &&
      isFilled(entry.rule) &&
      isFilled(entry.class) &&
      isFilled(entry.mode) &&
      isObject(entry.reason) &&
      isFilled(entry.reason.code),
  );

const isFilled = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
