import { isRecord } from '../../policies/document/reading.ts';
import { evaluate } from '../../policies/evaluate.ts';
import { parseAdmissionRequest } from '../../policies/request/parse-request.ts';
import type { UnmeteredAsk } from '../ledger/ledger.ts';
import type { UnmeteredResponse } from './contract.ts';
import { type DecideDeps, toHoldAsk } from './decide.ts';

type Result = UnmeteredResponse['results'][number];

/** Nobody waits for these: they may take the whole of a short function timeout. */
const RECORD_MS_MAX = 5_000;

/** A cause is one of the relay's own words; anything longer is not. */
const CAUSE_LENGTH_MAX = 40;

/** Charges answers that were given without the ledger, unchecked and flagged. One result per entry, same order. */
export async function recordUnmetered(
  entries: readonly unknown[],
  deps: DecideDeps,
): Promise<readonly Result[]> {
  const rules = await deps.currentRules();
  const results: Result[] = entries.map(() => ({ outcome: 'invalid' }));
  const asks: UnmeteredAsk[] = [];
  const placeOf: number[] = [];

  entries.forEach((entry, index) => {
    const answer = parseAnswer(entry);
    if (answer === undefined) return;
    // The period is the one of the answer, not of this call: an outage may span midnight.
    const evaluation = evaluate(answer.request, {
      ...rules,
      nowMs: answer.answeredAtMs,
    });
    const { answered, cause, answeredAtMs } = answer;
    placeOf.push(index);
    asks.push({
      ...toHoldAsk({ request: answer.request, evaluation }),
      answered,
      cause,
      answeredAtMs,
    });
  });

  if (asks.length === 0) return results;
  const outcomes = await deps.ledger.recordUnmetered(asks, deps.clock.monotonicMs() + RECORD_MS_MAX);
  outcomes.forEach((outcome, position) => {
    results[placeOf[position] ?? 0] = { outcome };
  });
  return results;
}

function parseAnswer(entry: unknown) {
  if (!isRecord(entry)) return undefined;
  const { answered, cause, answeredAtMs } = entry;
  const request = parseAdmissionRequest(entry.request);
  if (!request.ok) return undefined;
  if (answered !== 'admitted' && answered !== 'rejected') return undefined;
  if (typeof cause !== 'string' || cause.length > CAUSE_LENGTH_MAX) return undefined;
  if (typeof answeredAtMs !== 'number' || !Number.isSafeInteger(answeredAtMs) || answeredAtMs < 0)
    return undefined;
  return { request: request.value, answered, cause, answeredAtMs } as const;
}
