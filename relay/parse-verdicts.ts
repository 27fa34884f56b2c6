import type { UnmeteredResponse } from '../functions/admit/contract.ts';
import { undecided, type Verdict } from './verdict.ts';
import { isVerdict } from './verdict-body.ts';

/**
 * Reads `{decisions: [...]}`, one per request. Nothing if the envelope is not that; one decision that is not of the
 * contract spoils itself only.
 */
export function parseVerdicts(body: unknown, count: number): readonly Verdict[] | undefined {
  const decisions = isObject(body) ? body.decisions : undefined;
  if (!Array.isArray(decisions) || decisions.length !== count) return undefined;
  return decisions.map((decision) => (isVerdict(decision) ? decision : undecided('malformed')));
}

/** Reads `{results: [...]}`, one per answer posted; nothing if it is not that. */
export function parseUnmeteredResults(
  body: unknown,
  count: number,
): UnmeteredResponse['results'] | undefined {
  const results = isObject(body) ? body.results : undefined;
  if (!Array.isArray(results) || results.length !== count || !results.every(isUnmeteredResult))
    return undefined;
  return results;
}

const isUnmeteredResult = (value: unknown): value is UnmeteredResponse['results'][number] =>
  isObject(value) && ['recorded', 'undecided', 'invalid'].includes(String(value.outcome));

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
