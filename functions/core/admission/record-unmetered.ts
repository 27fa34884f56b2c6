import { isRecord } from '../../../policies/document/reading.ts';
import { evaluate } from '../../../policies/evaluate.ts';
import { parseAdmissionRequest } from '../../../policies/request/parse-request.ts';
import type { UnmeteredAnswer as Answer, UnmeteredResult } from '../contract/index.ts';
import type { Ledger, UnmeteredAsk } from '../ledger/index.ts';
import { jobIdIn } from './decide.ts';
import type { DecideDeps } from './decide-deps.ts';
import { toHoldAsk } from './judge.ts';

/** Background writes may use the whole of a short function timeout. */
const RECORD_MS_MAX = 5_000;

/** A cause is one of the relay's own words; anything longer is not. */
const CAUSE_LENGTH_MAX = 40;

/** Charges answers that were given without the ledger, unchecked and flagged. One result per entry, same order. */
export async function recordUnmetered(
  entries: readonly unknown[],
  deps: Pick<DecideDeps, 'currentRules' | 'estimatorFor' | 'clock'> & {
    readonly ledger: Pick<Ledger, 'recordUnmetered'>;
  },
): Promise<readonly UnmeteredResult[]> {
  const results = entries.map(
    (entry): UnmeteredResult => ({
      ...jobIdIn(isRecord(entry) ? entry.request : undefined),
      outcome: 'invalid',
    }),
  );
  const answers: Answer[] = [];
  const placeOf: number[] = [];
  entries.forEach((entry, index) => {
    const answer = parseAnswer(entry);
    if (answer === undefined) return;
    placeOf.push(index);
    answers.push(answer);
  });
  if (answers.length === 0) return results;

  const deadlineMs = deps.clock.monotonicMs() + RECORD_MS_MAX;
  const requests = answers.map(({ request }) => request);
  const rules = await deps.currentRules(requests);
  const { estimate } = rules.policy;
  const estimator = (await deps.estimatorFor?.(requests, estimate, deadlineMs)) ?? rules.estimator;
  const nowMs = deps.clock.nowMs();
  const asks = answers.map(({ request, answered, cause, answeredAtMs: toldAtMs }): UnmeteredAsk => {
    // The period is the one of the answer, not of this call: an outage may span midnight. No relay's clock makes it a later one.
    const answeredAtMs = Math.min(toldAtMs, nowMs);
    const evaluation = evaluate(request, { ...rules, estimator, nowMs: answeredAtMs });
    return { ...toHoldAsk({ request, evaluation }), answered, cause, answeredAtMs };
  });
  const outcomes = await deps.ledger.recordUnmetered(asks, deadlineMs);
  outcomes.forEach((outcome, position) => {
    const jobId = asks[position]?.jobId;
    results[placeOf[position] ?? 0] = { ...(jobId !== undefined && { jobId }), outcome };
  });
  return results;
}

function parseAnswer(entry: unknown): Answer | undefined {
  if (!isRecord(entry)) return undefined;
  const { answered, cause, answeredAtMs } = entry;
  const request = parseAdmissionRequest(entry.request);
  if (!request.ok) return undefined;
  if (answered !== 'admitted' && answered !== 'rejected') return undefined;
  if (typeof cause !== 'string' || cause.length > CAUSE_LENGTH_MAX) return undefined;
  if (typeof answeredAtMs !== 'number' || !Number.isSafeInteger(answeredAtMs) || answeredAtMs < 0)
    return undefined;
  return { request: request.value, answered, cause, answeredAtMs };
}
