import type { Decision } from '../policies/decision.ts';
import type { AdmissionRequest } from '../policies/request/request.ts';
import type { RelayObserver } from './events.ts';
import type { AnswerQuestion, Question, RelayClock, RouterAnswer } from './exchange.ts';
import type { Fallback, FallbackAnswer } from './fallback.ts';
import type { NeededFields } from './needed-fields.ts';
import { type FaultPlace, ownFault } from './own-fault.ts';
import type { JudgePlausibility, ReadQuestion } from './translate/question-reader.ts';
import type { UnmeteredAnswers } from './unmetered.ts';
import type { FallbackCause } from './verdict.ts';
import type { WaitingQueue } from './waiting/waiting-queue.ts';
import { wireReason } from './wire/reason.ts';
import type { SchemaProof } from './wire/schema-proof.ts';

type QuestionOutcome =
  /** `explained`: it speaks for the schema; after a refusal only once the router has taken the answer. */
  | { readonly ok: true; readonly request: AdmissionRequest; readonly explained: boolean }
  /** The ids that GitLab gave, where they can be relied on: enough to book the job. */
  | { readonly ok: false; readonly cause: 'unreadable' | 'oversized'; readonly ids?: AdmissionRequest };

interface ReadQuestionDeps {
  readonly read: ReadQuestion;
  readonly judge: JudgePlausibility;
  readonly proof: Pick<SchemaProof, 'note'>;
  readonly fields?: Pick<NeededFields, 'note'>;
  readonly observe: RelayObserver;
}

/** Reads one question, and what it says about the schema. */
export function createQuestionReader(deps: ReadQuestionDeps): (bytes: Uint8Array) => QuestionOutcome {
  const { observe, proof } = deps;

  return (bytes) => {
    const read = deps.read(bytes);
    if (read.unknown.length > 0) observe({ type: 'unknown_fields', fields: read.unknown });
    if (!read.ok) {
      const { cause, problem, blame, ids } = read;
      observe({ type: 'unreadable', problem, sizeBytes: bytes.length });
      if (blame === 'schema') proof.note({ kind: 'contradicted' });
      return { ok: false, cause, ...(ids !== undefined && blame === 'job' && { ids }) };
    }
    const { request, suspicious } = read;
    const { jobId } = request;
    deps.fields?.note(request);
    if (suspicious.length > 0) observe({ type: 'suspicious', jobId, fields: suspicious });
    const plausibility = deps.judge(request);
    if (plausibility !== 'plausible') observe({ type: 'implausible', jobId, why: plausibility });
    if (plausibility === 'impossible') proof.note({ kind: 'contradicted' });
    return { ok: true, request, explained: plausibility === 'plausible' };
  };
}

interface AnsweringDeps {
  readonly read: (bytes: Uint8Array) => QuestionOutcome;
  readonly waiting: Pick<WaitingQueue, 'decide'>;
  readonly fallback: Fallback;
  readonly proof: SchemaProof;
  readonly unmetered: UnmeteredAnswers;
  readonly clock: RelayClock;
  readonly observe: RelayObserver;
}

/** An answer with everything that is told about it. */
interface Settled {
  readonly answer: RouterAnswer;
  readonly request?: AdmissionRequest;
  readonly explained?: boolean;
  readonly decision?: Decision;
  /** Present if the job went to the ledger. */
  readonly batch?: string | undefined;
  /** Present if it waited for room. */
  readonly waitedMs?: number | undefined;
  /** Present when the ledger did not decide. */
  readonly cause?: FallbackCause;
}

/** The way of one question: read it, ask the ledger together with its neighbours, else fall back. Always an answer. */
export function createAnswering(deps: AnsweringDeps): AnswerQuestion {
  const { clock, observe, fallback, proof } = deps;
  let shortUntilMs = Number.NEGATIVE_INFINITY;

  return async (question) => {
    const settled = sendable(await settle(question));
    const { answer } = settled;
    // A router may leave answered calls open. After a refusal only an answer that was taken counts.
    if (proof.standing === 'unproven') explained(settled);
    // How the call ends is told later; the answer is given now.
    const given = { atMs: clock.nowMs(), latencyMs: clock.monotonicMs() - question.arrivedAtMs };
    const delivered = (heard: boolean, refusal?: string): void => {
      guarded('tell', () => {
        told(settled, given, heard);
        if (refusal !== undefined) refused(answer, refusal);
        else if (heard) explained(settled);
      });
    };
    return { answer, delivered };
  };

  async function settle(question: Question): Promise<Settled> {
    const read = guarded('read', () => deps.read(question.bytes));
    if (read === undefined) return fromFallback(fallback.operatorsWord('error'), 'error');
    if (!read.ok) {
      const { ids, cause } = read;
      const given = byFallback(() => fallback.answerUnread(ids?.projectId, cause), cause);
      return fromFallback(given, cause, ids);
    }
    try {
      return { ...(await decide(read.request, question)), explained: read.explained };
    } catch (error) {
      observe(ownFault('decide', error));
      return instead(read.request, 'error');
    }
  }

  async function decide(request: AdmissionRequest, question: Question): Promise<Settled> {
    let batch: string | undefined;
    const { verdict, waitedMs } = await deps.waiting.decide(request, {
      arrivedAtMs: question.arrivedAtMs,
      sent: (id) => {
        batch = id;
      },
      listenForEnd: (gone) => {
        question.onGone = gone;
      },
    });
    fallback.noted(request, verdict);
    switch (verdict.outcome) {
      case 'admitted':
        return { answer: { outcome: 'admitted' }, request, decision: verdict, batch, waitedMs };
      case 'rejected':
        return {
          answer: { outcome: 'rejected', reason: wireReason(verdict.text) },
          request,
          decision: verdict,
          batch,
          waitedMs,
        };
      case 'undecided':
        return { ...instead(request, verdict.cause), batch, waitedMs };
    }
  }

  function instead(request: AdmissionRequest, cause: FallbackCause): Settled {
    // Nobody hears it, so nothing is spent on it.
    const ask = cause === 'abandoned' ? fallback.operatorsWord : () => fallback.answer(request, cause);
    return fromFallback(
      byFallback(() => ask(cause), cause),
      cause,
      request,
    );
  }

  /** A fallback that fails is our fault, too: then the operator's word alone decides. */
  function byFallback(ask: () => FallbackAnswer, cause: FallbackCause): FallbackAnswer {
    return guarded('fallback', ask) ?? fallback.operatorsWord(cause);
  }

  /** A rejection fails the job for good: without a schema that is proven nobody can say that it is the right job. */
  function sendable(settled: Settled): Settled {
    if (settled.answer.outcome === 'admitted') return settled;
    const { standing } = proof;
    if (standing === 'proven')
      return clock.monotonicMs() < shortUntilMs ? { ...settled, answer: SHORT_REJECTION } : settled;
    const { decision } = settled;
    const code = decision?.outcome === 'rejected' ? decision.violations[0].reason.code : undefined;
    observe({ type: 'rejection_withheld', standing, ...(code !== undefined && { code }) });
    return { ...settled, answer: { outcome: 'admitted' }, cause: 'schema_unproven' };
  }

  /** The text of a rejection holds what authors write, so a refusal may be its fault alone. All else is the form's. */
  function refused(answer: RouterAnswer, refusal: string): void {
    const { outcome } = answer;
    observe({ type: 'answer_refused', outcome, refusal });
    if (outcome === 'rejected' && answer !== SHORT_REJECTION) shortUntilMs = clock.monotonicMs() + SHORT_MS;
    else proof.note({ kind: 'refused' });
  }

  function explained({ request, explained = false }: Settled): void {
    if (request === undefined || !explained) return;
    const { jobId, projectId, projectPath } = request;
    const project = projectId === undefined ? projectPath : String(projectId);
    proof.note({ kind: 'explained', jobId, project });
  }

  function told(
    settled: Settled,
    given: { readonly atMs: number; readonly latencyMs: number },
    heard: boolean,
  ): void {
    const { answer, request, decision, cause, batch, waitedMs } = settled;
    const unwritten = decision?.outcome === 'rejected' && decision.unwritten === true;
    const unbooked = cause ?? (unwritten ? 'unwritten' : undefined);
    // Not known to be heard: the job is asked again, or fails without us; should it run all the same, settling finds it.
    if (unbooked !== undefined && request !== undefined && heard) {
      deps.unmetered.add({ request, answered: answer.outcome, cause: unbooked, answeredAtMs: given.atMs });
    }
    observe({
      type: 'answered',
      answer,
      via: cause === undefined ? 'ledger' : 'fallback',
      ...(cause !== undefined && { cause }),
      ...(batch !== undefined && { batch }),
      latencyMs: given.latencyMs,
      ...(waitedMs !== undefined && { waitedMs }),
      heard,
      ...(request !== undefined && { request }),
      ...(decision !== undefined && { decision }),
    });
  }

  /** Nothing if it threw, which is told. */
  function guarded<T>(place: FaultPlace, run: () => T): T | undefined {
    try {
      return run();
    } catch (error) {
      observe(ownFault(place, error));
      return undefined;
    }
  }
}

/** Long enough that one author’s texts cost few rejections, short enough that reasons come back. */
const SHORT_MS = 10 * 60_000;
const SHORT_REJECTION: RouterAnswer = {
  outcome: 'rejected',
  reason: 'Rejected by Tollgate. "tollgate explain" and the console say why.',
};

const fromFallback = (given: FallbackAnswer, cause: FallbackCause, request?: AdmissionRequest): Settled => ({
  ...given,
  cause,
  ...(request !== undefined && { request }),
});
