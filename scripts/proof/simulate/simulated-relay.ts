/**
 * One relay of the month. What arrives together is asked about at once; of jobs that the function lets wait, the product's own
 * queue says when they are asked about again.
 */
import type { WaitingTerms } from '../../../functions/core/contract/index.ts';
import type { HoldOutcome } from '../../../functions/core/ledger/index.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import {
  type FallbackCause,
  type LedgerVerdict,
  type RelayClock,
  undecided,
} from '../../../relay/exchange.ts';
import type { WaitQueue } from '../../../relay/waiting/wait-queue.ts';
import { Agenda } from './agenda.ts';
import type { Parts } from './parts.ts';
import type { SimulatedQuestion } from './questions.ts';
import { WAITS } from './workload.ts';

export interface RelayAnswer {
  readonly question: SimulatedQuestion;
  readonly outcome: HoldOutcome;
  /** Why the relay had nothing to go by, though the function said something. */
  readonly leftBy?: FallbackCause;
}

interface SimulatedRelayDeps {
  readonly clock: RelayClock;
  readonly requestOf: (question: SimulatedQuestion) => AdmissionRequest;
  /** One call of the admit function. */
  readonly send: (
    jobIds: readonly number[],
    terms: WaitingTerms,
    deadlineMs: number,
  ) => Promise<readonly HoldOutcome[]>;
  readonly waiting: Parts['waiting'];
}

interface Unsent {
  readonly request: AdmissionRequest;
  readonly deadlineMs: number;
  readonly answer: (verdict: LedgerVerdict) => void;
}

/** A relay's own deadline. */
export const CALL_MS_MAX = 2_000;
const BATCH_JOBS_MAX = 96;

export class SimulatedRelay {
  readonly #deps: SimulatedRelayDeps;
  readonly #timers = new Agenda<() => void>();
  readonly #queue: WaitQueue;
  /** Those that the router has not got an answer to, and how it takes them back. */
  readonly #open = new Map<SimulatedQuestion, () => void>();
  /** What the function said last, by job. */
  readonly #said = new Map<number, HoldOutcome>();
  #unsent: Unsent[] = [];
  #answers: RelayAnswer[] = [];

  constructor(deps: SimulatedRelayDeps) {
    this.#deps = deps;
    const { clock } = deps;
    this.#queue = deps.waiting({
      commit: { decide: (request, deadlineMs) => this.#send(request, deadlineMs) },
      clock: {
        nowMs: () => clock.nowMs(),
        monotonicMs: () => clock.monotonicMs(),
        after: (delayMs, run) => this.#after(delayMs, run),
      },
      observe: () => {},
      deadlineMs: CALL_MS_MAX,
      answerWithinMs: WAITS.answerWithinMs,
    });
  }

  /** When it has to do something by itself. */
  get nextMs(): number {
    return this.#timers.nextMs;
  }

  /** @returns the answers there are at once, some of them perhaps to earlier questions. */
  async ask(questions: readonly SimulatedQuestion[]): Promise<readonly RelayAnswer[]> {
    const arrivedAtMs = this.#deps.clock.monotonicMs();
    for (const question of questions) {
      const { jobId } = question.job;
      this.#open.set(question, () => {});
      const asker = {
        arrivedAtMs,
        listenForEnd: (gone: () => void) => void this.#open.set(question, gone),
      };
      void this.#queue.decide(this.#deps.requestOf(question), asker).then(({ verdict }) => {
        if (!this.#open.delete(question)) return;
        const said = this.#said.get(jobId);
        const isLeft = verdict.outcome === 'undecided' && said?.outcome !== 'undecided';
        const outcome = said === undefined || isLeft ? UNANSWERED : said;
        this.#answers.push({ question, outcome, ...(isLeft && { leftBy: verdict.cause }) });
      });
    }
    return this.#sendAll();
  }

  /** What is due by now. */
  async work(): Promise<readonly RelayAnswer[]> {
    for (const run of this.#timers.takeUntil(this.#deps.clock.nowMs())) run();
    return this.#sendAll();
  }

  /** What it would tell the function of those that wait. */
  terms(jobIds: readonly number[]): WaitingTerms {
    return this.#queue.terms(jobIds);
  }

  /** The router asks about this job again, and listens here no more. */
  gaveUp(jobId: number): void {
    for (const [question, gone] of [...this.#open]) {
      if (question.job.jobId !== jobId) continue;
      this.#open.delete(question);
      gone();
    }
  }

  /** Nothing it does is heard any more. @returns the questions that it leaves open. */
  die(): readonly SimulatedQuestion[] {
    const left = [...this.#open.keys()];
    this.#open.clear();
    return left;
  }

  #after(delayMs: number, run: () => void): () => void {
    let isOff = false;
    this.#timers.add(this.#deps.clock.nowMs() + delayMs, () => {
      if (!isOff) run();
    });
    return () => {
      isOff = true;
    };
  }

  #send(request: AdmissionRequest, deadlineMs: number): Promise<LedgerVerdict> {
    return new Promise((answer) => this.#unsent.push({ request, deadlineMs, answer }));
  }

  async #sendAll(): Promise<readonly RelayAnswer[]> {
    while (this.#unsent.length > 0) {
      const batch = this.#queue.inOrder(this.#unsent.splice(0, BATCH_JOBS_MAX));
      const jobIds = batch.map(({ request }) => request.jobId);
      const deadlineMs = Math.min(...batch.map((each) => each.deadlineMs));
      const outcomes = await this.#deps.send(jobIds, this.#queue.terms(jobIds), deadlineMs);
      batch.forEach(({ request, answer }, index) => {
        const outcome = outcomes[index] ?? UNANSWERED;
        this.#said.set(request.jobId, outcome);
        answer(verdictOf(outcome, request.jobId));
      });
      // Whoever hears of it goes on first.
      await new Promise(setImmediate);
    }
    const answers = this.#answers;
    this.#answers = [];
    for (const { question } of answers) this.#said.delete(question.job.jobId);
    return answers;
  }
}

const UNANSWERED: HoldOutcome = { outcome: 'undecided', cause: 'unavailable' };

/** As the relay takes it: the texts are nobody's here. */
function verdictOf(outcome: HoldOutcome, jobId: number): LedgerVerdict {
  switch (outcome.outcome) {
    case 'admitted':
      return { outcome: 'admitted', decisionId: `d-${jobId}`, shadow: outcome.shadow };
    case 'rejected': {
      const { violations, shadow } = outcome;
      return { outcome: 'rejected', decisionId: `d-${jobId}`, violations, shadow, text: '' };
    }
    case 'waiting':
      return { ...outcome, text: '' };
    case 'undecided':
      return undecided('unavailable');
  }
}
