/**
 * Answers one request of the router.
 *
 * 1. Read the bytes, and note what they say about the schema. An unreadable request goes to the fallback.
 * 2. Ask the ledger, in a batch with others. The job may wait for headroom. If the ledger does not decide, the fallback does.
 * 3. Send a rejection only under a proven schema, else admit.
 * 4. When the stream has ended, report the answer to log, metrics and, if the fallback decided, to the ledger.
 */
import type { Decision } from '../policies/decision.ts';
import type { AdmissionRequest } from '../policies/request/request.ts';
import { type FaultPlace, ownFault, type RelayObserver } from './events.ts';
import type { AnswerRequest, FallbackCause, RelayClock, RouterMessage, RouterResponse } from './exchange.ts';
import type { Fallback, FallbackAnswer } from './fallback/fallback.ts';
import type { UnmeteredAnswers } from './fallback/unmetered.ts';
import type { NeededFields } from './translate/needed-fields.ts';
import type { JudgePlausibility, ReadRequest } from './translate/request-reader.ts';
import type { WaitQueue } from './wait-queue.ts';
import { wireReason } from './wire/reason.ts';
import type { SchemaProof } from './wire/schema-proof.ts';

interface Reply {
  readonly answer: RouterResponse;
  readonly request?: AdmissionRequest | undefined;
  readonly explained?: boolean;
  readonly decision?: Decision;
  readonly batch?: string | undefined;
  readonly waitedMs?: number | undefined;
  readonly cause?: FallbackCause;
}

export function createAnswering(options: {
  readonly read: ReadRequest;
  readonly judge: JudgePlausibility;
  readonly fields?: Pick<NeededFields, 'note'>;
  readonly waiting: Pick<WaitQueue, 'decide'>;
  readonly fallback: Fallback;
  readonly proof: SchemaProof;
  readonly unmetered: UnmeteredAnswers;
  readonly clock: RelayClock;
  readonly observe: RelayObserver;
}): AnswerRequest {
  const { clock, observe, fallback, proof } = options;
  let shortUntilMs = Number.NEGATIVE_INFINITY;

  return async (message) => {
    const reply = sendable(await decideMessage(message));
    const { answer } = reply;
    // A router may leave answered calls open, so an unproven schema counts answers before delivery. A suspect one does not.
    if (proof.state === 'unproven') noteExplained(reply);
    const given = { atMs: clock.nowMs(), latencyMs: clock.monotonicMs() - message.arrivedAtMs };
    const delivered = (heard: boolean, refusal?: string): void => {
      guarded('report', () => {
        report(reply, given, heard);
        if (refusal !== undefined) onRefused(answer, refusal);
        else if (heard) noteExplained(reply);
      });
    };
    return { answer, delivered };
  };

  function read(bytes: Uint8Array) {
    const found = options.read(bytes);
    if (found.unknown.length > 0) observe({ type: 'unknown_fields', fields: found.unknown });
    if (!found.ok) {
      const { cause, problem, blame, ids } = found;
      observe({ type: 'unreadable', problem, sizeBytes: bytes.length });
      if (blame === 'schema') proof.note({ kind: 'contradicted' });
      // Only then the ids are reliable, which is enough to book the job.
      return { ok: false, cause, ids: blame === 'job' ? ids : undefined } as const;
    }
    const { request, suspicious } = found;
    const { jobId } = request;
    options.fields?.note(request);
    if (suspicious.length > 0) observe({ type: 'suspicious', jobId, fields: suspicious });
    const plausibility = options.judge(request);
    if (plausibility !== 'plausible') observe({ type: 'implausible', jobId, why: plausibility });
    if (plausibility === 'impossible') proof.note({ kind: 'contradicted' });
    return { ok: true, request, explained: plausibility === 'plausible' } as const;
  }

  async function decideMessage(message: RouterMessage): Promise<Reply> {
    const found = guarded('read', () => read(message.bytes));
    if (found === undefined) return { ...fallback.operatorsChoice('error'), cause: 'error' };
    if (!found.ok) {
      const { ids, cause } = found;
      const given = guarded('fallback', () => fallback.answerUnread(ids?.projectId, cause));
      return fromFallback(given, cause, ids);
    }
    try {
      return { ...(await decide(found.request, message)), explained: found.explained };
    } catch (error) {
      observe(ownFault('decide', error));
      return instead(found.request, 'error');
    }
  }

  async function decide(request: AdmissionRequest, message: RouterMessage): Promise<Reply> {
    let batch: string | undefined;
    const { decision, waitedMs } = await options.waiting.decide(request, {
      arrivedAtMs: message.arrivedAtMs,
      sent: (id) => {
        batch = id;
      },
      listenForEnd: (gone) => {
        message.onGone = gone;
      },
    });
    fallback.noted(request, decision);
    switch (decision.outcome) {
      case 'admitted':
        return { answer: { outcome: 'admitted' }, request, decision, batch, waitedMs };
      case 'rejected': {
        const answer = { outcome: 'rejected', reason: wireReason(decision.text) } as const;
        return { answer, request, decision, batch, waitedMs };
      }
      case 'undecided':
        return { ...instead(request, decision.cause), batch, waitedMs };
    }
  }

  function instead(request: AdmissionRequest, cause: FallbackCause): Reply {
    // No router hears an abandoned answer, so it spends no headroom.
    const given =
      cause === 'abandoned' ? undefined : guarded('fallback', () => fallback.answer(request, cause));
    return fromFallback(given, cause, request);
  }

  function fromFallback(
    given: FallbackAnswer | undefined,
    cause: FallbackCause,
    request: AdmissionRequest | undefined,
  ): Reply {
    return { ...(given ?? fallback.operatorsChoice(cause)), cause, request };
  }

  /** A rejection fails the job for good, and under an unproven schema it may hit the wrong job. */
  function sendable(reply: Reply): Reply {
    if (reply.answer.outcome === 'admitted') return reply;
    const { state } = proof;
    if (state === 'proven')
      return clock.monotonicMs() < shortUntilMs ? { ...reply, answer: SHORT_REJECTION } : reply;
    const { decision } = reply;
    const code = decision?.outcome === 'rejected' ? decision.violations[0].reason.code : undefined;
    observe({ type: 'rejection_withheld', state, code });
    return { ...reply, answer: { outcome: 'admitted' }, cause: 'schema_unproven' };
  }

  /** The text of a rejection holds what authors write and may be at fault alone. Any other refusal is about the schema. */
  function onRefused(answer: RouterResponse, refusal: string): void {
    const { outcome } = answer;
    observe({ type: 'answer_refused', outcome, refusal });
    if (outcome === 'rejected' && answer !== SHORT_REJECTION) shortUntilMs = clock.monotonicMs() + SHORT_MS;
    else proof.note({ kind: 'refused' });
  }

  function noteExplained({ request, explained = false }: Reply): void {
    if (request === undefined || !explained) return;
    const { jobId, projectId, projectPath } = request;
    const project = projectId === undefined ? projectPath : String(projectId);
    proof.note({ kind: 'explained', jobId, project });
  }

  function report(
    reply: Reply,
    given: { readonly atMs: number; readonly latencyMs: number },
    heard: boolean,
  ): void {
    const { answer, request, decision, cause, batch, waitedMs } = reply;
    const isUnwritten = decision?.outcome === 'rejected' && decision.unwritten === true;
    const unbooked = cause ?? (isUnwritten ? 'unwritten' : undefined);
    // If the router may not have the answer, it asks again or the job fails. Settlement finds a job that runs anyway.
    if (unbooked !== undefined && request !== undefined && heard) {
      const answered = answer.outcome;
      options.unmetered.add({ request, answered, cause: unbooked, answeredAtMs: given.atMs });
    }
    const via = cause === undefined ? 'ledger' : 'fallback';
    const { latencyMs } = given;
    observe({ type: 'answered', answer, via, cause, batch, latencyMs, waitedMs, heard, request, decision });
  }

  function guarded<T>(place: FaultPlace, run: () => T): T | undefined {
    try {
      return run();
    } catch (error) {
      observe(ownFault(place, error));
      return undefined;
    }
  }
}

/** Long enough that the texts of one author cost few rejections, short enough that reasons come back. */
const SHORT_MS = 10 * 60_000;
const SHORT_REJECTION: RouterResponse = {
  outcome: 'rejected',
  reason: 'Rejected by Tollgate. "tollgate explain" and the console say why.',
};
