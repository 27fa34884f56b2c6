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

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
