import type { Decision } from '../policies/decision.ts';
import type { AdmissionRequest } from '../policies/request/request.ts';
import type { GroupCommit } from './commit/group-commit.ts';
import type { Observe } from './events.ts';
import type { Answer, AnswerQuestion, Question, RelayClock } from './exchange.ts';
import type { Fallback, FallbackAnswer } from './fallback.ts';
import { reasonText } from './reason-text.ts';
import type { Translate } from './translate/translator.ts';
import type { Unmetered } from './unmetered.ts';
import type { FallbackCause } from './verdict.ts';
import type { Decoded } from './wire/decode.ts';

export interface AnsweringDeps {
  readonly decode: (bytes: Uint8Array) => Decoded;
  readonly translate: Translate;
  readonly commit: GroupCommit;
  readonly fallback: Fallback;
  readonly unmetered: Unmetered;
  readonly clock: RelayClock;
  readonly observe: Observe;
  /** From question to answer. */
  readonly deadlineMs: number;
}

/** Decoding blocks everybody else; what GitLab sends of one job, all variables included, is far below. */
export const QUESTION_BYTES_MAX = 4 * 1024 * 1024;

/** An answer with everything that is told about it. */
interface Settled {
  readonly answer: Answer;
  readonly request?: AdmissionRequest;
  readonly decision?: Decision;
  /** Present if the job went to the ledger. */
  readonly batch?: string | undefined;
  /** Present when the ledger did not decide. */
  readonly cause?: FallbackCause;
}

type Read =
  | { readonly ok: true; readonly request: AdmissionRequest }
  | { readonly ok: false; readonly cause: 'unreadable' | 'oversized'; readonly projectId?: number };

/** The way of one question: read it, ask the ledger together with its neighbours, else fall back. Always an answer. */
export function createAnswering(deps: AnsweringDeps): AnswerQuestion {
  const { clock, observe, fallback } = deps;

  return async (question) => {
    const settled = await settle(question).catch(() =>
      fromFallback(fallback.answerUnread(undefined, 'error'), 'error'),
    );
    // How the call ends is told later; the answer is given now.
    const given = { atMs: clock.nowMs(), latencyMs: clock.monotonicMs() - question.arrivedAtMs };
    return { answer: settled.answer, delivered: (heard) => told(settled, given, heard) };
  };

  async function settle(question: Question): Promise<Settled> {
    const read = readQuestion(question.bytes);
    if (!read.ok) return fromFallback(fallback.answerUnread(read.projectId, read.cause), read.cause);
    const { request } = read;
    let batch: string | undefined;
    const verdict = await deps.commit.decide(request, question.arrivedAtMs + deps.deadlineMs, (id) => {
      batch = id;
    });
    fallback.noted(request, verdict);
    switch (verdict.outcome) {
      case 'admitted':
        return { answer: { outcome: 'admitted' }, request, decision: verdict, batch };
      case 'rejected':
        return {
          answer: { outcome: 'rejected', reason: reasonText(verdict.text) },
          request,
          decision: verdict,
          batch,
        };
      case 'undecided':
        return { ...fromFallback(fallback.answer(request, verdict.cause), verdict.cause, request), batch };
    }
  }

  function readQuestion(bytes: Uint8Array): Read {
    if (bytes.length > QUESTION_BYTES_MAX) {
      observe({
        type: 'unreadable',
        problem: `larger than ${QUESTION_BYTES_MAX} bytes`,
        sizeBytes: bytes.length,
      });
      return { ok: false, cause: 'oversized' };
    }
    const decoded = deps.decode(bytes);
    if (!decoded.ok) {
      observe({ type: 'unreadable', problem: decoded.problem, sizeBytes: bytes.length });
      return { ok: false, cause: 'unreadable' };
    }
    if (decoded.unknown.length > 0) observe({ type: 'unknown_fields', fields: decoded.unknown });
    const translation = deps.translate(decoded.message);
    if (!translation.ok) {
      const { problem, projectId } = translation;
      observe({ type: 'unreadable', problem, sizeBytes: bytes.length });
      return { ok: false, cause: 'unreadable', ...(projectId !== undefined && { projectId }) };
    }
    const { request, suspicious } = translation;
    if (suspicious.length > 0) observe({ type: 'suspicious', jobId: request.jobId, fields: suspicious });
    return { ok: true, request };
  }

  function told(
    settled: Settled,
    given: { readonly atMs: number; readonly latencyMs: number },
    heard: boolean,
  ): void {
    const { answer, request, decision, cause, batch } = settled;
    // Not known to be heard: the job is asked again, or fails without us; should it run all the same, settling finds it.
    if (cause !== undefined && request !== undefined && heard) {
      deps.unmetered.add({ request, answered: answer.outcome, cause, answeredAtMs: given.atMs });
    }
    observe({
      type: 'answered',
      answer,
      via: cause === undefined ? 'ledger' : 'fallback',
      ...(cause !== undefined && { cause }),
      ...(batch !== undefined && { batch }),
      latencyMs: given.latencyMs,
      heard,
      ...(request !== undefined && { request }),
      ...(decision !== undefined && { decision }),
    });
  }
}

const fromFallback = (given: FallbackAnswer, cause: FallbackCause, request?: AdmissionRequest): Settled => ({
  ...given,
  cause,
  ...(request !== undefined && { request }),
});
