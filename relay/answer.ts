import type { Decision } from '../policies/decision.ts';
import type { AdmissionRequest } from '../policies/request/request.ts';
import type { RelayObserver } from './events.ts';
import type { AnswerQuestion, Question, RelayClock, RouterAnswer } from './exchange.ts';
import { type Fallback, type FallbackAnswer, plainReasonText } from './fallback.ts';
import { type FaultPlace, ownFault } from './own-fault.ts';
import type { JudgePlausibility, ReadQuestion } from './translate/question-reader.ts';
import type { UnmeteredAnswers } from './unmetered.ts';
import type { FallbackCause } from './verdict.ts';
import type { WaitingQueue } from './waiting/waiting-queue.ts';
import type { SchemaProof } from './wire/schema-proof.ts';

type QuestionOutcome =
  | { readonly ok: true; readonly request: AdmissionRequest }
  /** The project is named only where the job itself may have brought this about. */
  | { readonly ok: false; readonly cause: 'unreadable' | 'oversized'; readonly projectId?: number };

interface ReadQuestionDeps {
  readonly read: ReadQuestion;
  readonly judge: JudgePlausibility;
  readonly proof: Pick<SchemaProof, 'note'>;
  readonly observe: RelayObserver;
}

/** Reads one question, and what it says about the schema. */
export function createQuestionReader(deps: ReadQuestionDeps): (bytes: Uint8Array) => QuestionOutcome {
  const { observe, proof } = deps;

  return (bytes) => {
    const read = deps.read(bytes);
    if (read.unknown.length > 0) observe({ type: 'unknown_fields', fields: read.unknown });
    if (!read.ok) {
      const { cause, problem, blame, projectId } = read;
      observe({ type: 'unreadable', problem, sizeBytes: bytes.length });
      const jobs = blame === 'job' && projectId !== undefined;
      // Size says nothing about the schema: any job can be large.
      if (cause !== 'oversized') {
        proof.note(jobs ? { kind: 'broken', project: String(projectId) } : { kind: 'contradicted' });
      }
      return { ok: false, cause, ...(jobs && { projectId }) };
    }
    const { request, suspicious } = read;
    if (suspicious.length > 0) observe({ type: 'suspicious', jobId: request.jobId, fields: suspicious });
    noteRead(request);
    return { ok: true, request };
  };

  function noteRead(request: AdmissionRequest): void {
    const { jobId, projectId } = request;
    const project = projectId === undefined ? request.projectPath : String(projectId);
    const plausibility = deps.judge(request);
    if (plausibility === 'plausible') {
      proof.note({ kind: 'explained', jobId, project });
      return;
    }
    observe({ type: 'implausible', jobId, why: plausibility });
    proof.note(
      plausibility === 'impossible' || project === undefined
        ? { kind: 'contradicted' }
        : { kind: 'broken', project },
    );
  }
}

interface AnsweringDeps {
  readonly read: (bytes: Uint8Array) => QuestionOutcome;
  readonly waiting: Pick<WaitingQueue, 'decide'>;
  readonly fallback: Fallback;
  readonly proof: Pick<SchemaProof, 'standing'>;
  readonly unmetered: UnmeteredAnswers;
  readonly clock: RelayClock;
  readonly observe: RelayObserver;
}

/** An answer with everything that is told about it. */
interface Settled {
  readonly answer: RouterAnswer;
  readonly request?: AdmissionRequest;
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
  const { clock, observe, fallback } = deps;

  return async (question) => {
    const settled = withheld(await settle(question));
    // How the call ends is told later; the answer is given now.
    const given = { atMs: clock.nowMs(), latencyMs: clock.monotonicMs() - question.arrivedAtMs };
    const delivered = (heard: boolean): void => {
      guarded('tell', () => told(settled, given, heard));
    };
    return { answer: settled.answer, delivered };
  };

  async function settle(question: Question): Promise<Settled> {
    const read = guarded('read', () => deps.read(question.bytes));
    if (read === undefined) return fromFallback(fallback.operatorsWord('error'), 'error');
    if (!read.ok) {
      const { projectId, cause } = read;
      const given = byFallback(() => fallback.answerUnread(projectId, cause), cause);
      return fromFallback(given, cause);
    }
    try {
      return await decide(read.request, question);
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
          answer: { outcome: 'rejected', reason: plainReasonText(verdict.text) },
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
  function withheld(settled: Settled): Settled {
    const { standing } = deps.proof;
    if (settled.answer.outcome === 'admitted' || standing === 'proven') return settled;
    const { decision } = settled;
    const code = decision?.outcome === 'rejected' ? decision.violations[0].reason.code : undefined;
    observe({ type: 'rejection_withheld', standing, ...(code !== undefined && { code }) });
    return { ...settled, answer: { outcome: 'admitted' }, cause: 'schema_unproven' };
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

const fromFallback = (given: FallbackAnswer, cause: FallbackCause, request?: AdmissionRequest): Settled => ({
  ...given,
  cause,
  ...(request !== undefined && { request }),
});
