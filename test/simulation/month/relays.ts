/**
 * Two relays that ask the admit function in batches and die once each. The product's own queue decides when a waiting job is
 * asked about again. Where the function does not answer, the fallback admits, and the relay posts that later.
 */
import type { UnmeteredAnswer, WaitingTerms } from '../../../functions/core/contract/admissions.ts';
import type { HoldOutcome } from '../../../functions/core/ledger/ledger.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { type FallbackCause, type LedgerDecision, undecided } from '../../../relay/exchange.ts';
import type { WaitQueue } from '../../../relay/wait-queue.ts';
import { Agenda } from '../agenda.ts';
import type { TrueJob } from '../gitlab.ts';
import type { World } from '../world.ts';
import { RELAY_KILLS, WAITS } from './shape.ts';
import type { ExpectedWaits } from './waits.ts';

export interface Question {
  readonly job: TrueJob;
  readonly atMs: number;
  readonly isHeard: boolean;
}

export interface RelayAnswer {
  readonly question: Question;
  readonly outcome: HoldOutcome;
  /** The cause of a fallback answer that the relay gave though the function had answered. */
  readonly leftBy?: FallbackCause;
}

type Send = (
  jobs: readonly TrueJob[],
  terms: WaitingTerms,
  leftMs: number,
) => Promise<readonly HoldOutcome[]>;

const CALL_MS_MAX = 2_000;
const BATCH_JOBS_MAX = 96;
const NOTICED_MS = 3_000;
const UNANSWERED: HoldOutcome = { outcome: 'undecided', cause: 'unavailable' };

class Relay {
  readonly #world: World;
  readonly #send: Send;
  readonly #timers = new Agenda<() => void>();
  readonly #queue: WaitQueue;
  readonly #open = new Map<Question, () => void>();
  readonly #outcomes = new Map<number, HoldOutcome>();
  #unsent: {
    readonly request: AdmissionRequest;
    readonly deadlineMs: number;
    readonly answer: (decision: LedgerDecision) => void;
  }[] = [];
  #answers: RelayAnswer[] = [];

  constructor(world: World, send: Send) {
    this.#world = world;
    this.#send = send;
    const { clock } = world;
    this.#queue = world.parts.waiting({
      commit: {
        decide: (request, deadlineMs) =>
          new Promise((answer) => void this.#unsent.push({ request, deadlineMs, answer })),
      },
      clock: {
        ...{ nowMs: clock.nowMs, monotonicMs: clock.monotonicMs },
        after: (delayMs, run) => {
          let isOff = false;
          this.#timers.add(clock.nowMs() + delayMs, () => isOff || run());
          return () => {
            isOff = true;
          };
        },
      },
      observe: () => {},
      deadlineMs: CALL_MS_MAX,
      answerWithinMs: WAITS.answerWithinMs,
    });
  }

  get nextMs(): number {
    return this.#timers.nextMs;
  }

  async ask(questions: readonly Question[]): Promise<readonly RelayAnswer[]> {
    const { clock, gitlab } = this.#world;
    const arrivedAtMs = clock.monotonicMs();
    for (const question of questions) {
      const { jobId } = question.job;
      this.#open.set(question, () => {});
      const asker = {
        arrivedAtMs,
        listenForEnd: (gone: () => void) => void this.#open.set(question, gone),
      };
      void this.#queue.decide(gitlab.requestOf(question.job), asker).then(({ decision }) => {
        if (!this.#open.delete(question)) return;
        const last = this.#outcomes.get(jobId);
        const isLeft = decision.outcome === 'undecided' && last?.outcome !== 'undecided';
        const outcome = last === undefined || isLeft ? UNANSWERED : last;
        this.#answers.push({ question, outcome, ...(isLeft && { leftBy: decision.cause }) });
      });
    }
    return this.#sendAll();
  }

  async work(): Promise<readonly RelayAnswer[]> {
    const nowMs = this.#world.clock.nowMs();
    // Timers that these set are for the next time.
    for (const run of this.#timers.takeAll(nowMs)) run();
    return this.#sendAll();
  }

  terms(jobs: readonly TrueJob[]): WaitingTerms {
    return this.#queue.terms(jobs.map(({ jobId }) => jobId));
  }

  forget(job: TrueJob): void {
    for (const [question, gone] of [...this.#open]) {
      if (question.job !== job) continue;
      this.#open.delete(question);
      gone();
    }
  }

  die(): readonly Question[] {
    const left = [...this.#open.keys()];
    this.#open.clear();
    return left;
  }

  async #sendAll(): Promise<readonly RelayAnswer[]> {
    const { clock, gitlab } = this.#world;
    while (this.#unsent.length > 0) {
      const batch = this.#queue.inOrder(this.#unsent.splice(0, BATCH_JOBS_MAX));
      const jobs = batch.map(({ request }) => gitlab.byId(request.jobId));
      const leftMs = Math.min(...batch.map((each) => each.deadlineMs)) - clock.monotonicMs();
      const outcomes = await this.#send(jobs, this.terms(jobs), leftMs);
      for (const [index, { request, answer }] of batch.entries()) {
        const outcome = outcomes[index] ?? UNANSWERED;
        this.#outcomes.set(request.jobId, outcome);
        answer(verdictOf(outcome, request.jobId));
      }
      await new Promise(setImmediate);
    }
    const answers = this.#answers;
    this.#answers = [];
    for (const { question } of answers) this.#outcomes.delete(question.job.jobId);
    return answers;
  }
}

function verdictOf(outcome: HoldOutcome, jobId: number): LedgerDecision {
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

export class Relays {
  readonly counts = { askedTwice: 0, answeredTwoWays: 0, fallback: 0, unmeteredLeft: 0 };
  readonly #world: World;
  readonly #waits: ExpectedWaits;
  readonly #random: () => number;
  readonly #killed = new Set<number>();
  readonly #relays: [Relay, Relay];
  #unmetered: readonly UnmeteredAnswer[] = [];

  constructor(world: World, waits: ExpectedWaits) {
    this.#world = world;
    this.#waits = waits;
    this.#random = world.newRandom();
    this.#relays = [this.#newRelay(0), this.#newRelay(1)];
  }

  get nextMs(): number {
    return Math.min(this.#relays[0].nextMs, this.#relays[1].nextMs);
  }

  /** Requests of one root group. @returns all answers there are by now; `undecided`: the fallback admitted */
  async ask(questions: readonly Question[]): Promise<readonly RelayAnswer[]> {
    for (const { job } of questions) {
      for (const relay of [0, 1]) {
        this.#relayAt(relay).forget(job);
        this.#waits.gone(relay, job.jobId);
      }
    }
    const nowMs = this.#world.clock.nowMs();
    const dead = RELAY_KILLS.find(
      ({ relay, atMs, backMs }) => this.#killed.has(relay) && nowMs >= atMs && nowMs < backMs,
    );
    if (dead !== undefined) return this.#askAt(1 - dead.relay, questions);
    const dies = RELAY_KILLS.find(({ relay, atMs }) => !this.#killed.has(relay) && nowMs >= atMs);
    if (dies === undefined) return this.#askAt(this.#random() < 0.5 ? 0 : 1, questions);
    this.#killed.add(dies.relay);
    return this.#dieWith(dies.relay, questions);
  }

  async work(): Promise<readonly RelayAnswer[]> {
    const [first, second] = this.#relays;
    return [...this.#received(0, await first.work()), ...this.#received(1, await second.work())];
  }

  async postUnmetered(): Promise<void> {
    if (this.#unmetered.length === 0) return;
    this.#unmetered = await this.#world.postUnmetered(this.#world.process('admit 0'), this.#unmetered);
    this.counts.unmeteredLeft = this.#unmetered.length;
  }

  #newRelay(relay: number): Relay {
    return new Relay(this.#world, (jobs, terms, leftMs) => this.#hold(relay, jobs, terms, leftMs));
  }

  #relayAt = (relay: number): Relay => (relay === 0 ? this.#relays[0] : this.#relays[1]);

  async #hold(
    relay: number,
    jobs: readonly TrueJob[],
    terms: WaitingTerms,
    leftMs: number,
  ): Promise<readonly HoldOutcome[]> {
    const world = this.#world;
    const askedAtMs = world.clock.nowMs();
    const turnOf = (jobId: number) => this.#waits.turnOf(relay, jobId, terms);
    const process = world.process(relay === 0 ? 'admit 0' : 'admit 1');
    const { outcomes, predictions } = await world.admit(process, jobs, { leftMs, terms, turnOf });
    for (const [index, job] of jobs.entries()) {
      const [outcome, expected] = [outcomes[index], predictions[index]];
      if (outcome?.outcome === 'waiting')
        this.#waits.waits(relay, job, askedAtMs, outcome.counters, outcome.leftMs);
      if (outcome?.outcome === 'admitted' && expected?.isRepeated === false)
        this.#waits.admitted(relay, job, expected.ask);
    }
    return outcomes;
  }

  async #askAt(relay: number, questions: readonly Question[]): Promise<readonly RelayAnswer[]> {
    return this.#received(relay, await this.#relayAt(relay).ask(questions));
  }

  #received(relay: number, answers: readonly RelayAnswer[]): readonly RelayAnswer[] {
    const { clock, gitlab } = this.#world;
    for (const answer of answers) {
      this.#waits.answered(relay, answer);
      if (answer.outcome.outcome !== 'undecided') continue;
      const { job } = answer.question;
      const answeredAtMs = clock.nowMs();
      job.fallback.push({ answered: 'admitted', atMs: answeredAtMs });
      this.counts.fallback += 1;
      const posted = { answered: 'admitted', cause: 'unavailable', answeredAtMs } as const;
      this.#unmetered = [...this.#unmetered, { request: gitlab.requestOf(job), ...posted }];
    }
    return answers;
  }

  /** Its function goes on and its answers are lost; the router asks the other relay about all its jobs. */
  async #dieWith(relay: number, questions: readonly Question[]): Promise<readonly RelayAnswer[]> {
    const { clock } = this.#world;
    const dying = this.#relayAt(relay);
    const waited = dying.die();
    this.#relays[relay] = this.#newRelay(relay);
    this.counts.askedTwice += questions.length + waited.length;
    const jobs = questions.map(({ job }) => job);
    const unheard = this.#hold(relay, jobs, dying.terms(jobs), CALL_MS_MAX);
    if (relay === 0) {
      await unheard;
      clock.advanceTo(clock.nowMs() + NOTICED_MS);
    }
    const [first, answers] = await Promise.all([unheard, this.#askAt(1 - relay, questions)]);
    this.#waits.gone(relay);
    const second = new Map(answers.map(({ question, outcome }) => [question.job, outcome.outcome]));
    this.counts.answeredTwoWays += jobs.filter((job, index) => {
      const outcome = first[index]?.outcome;
      return outcome !== 'waiting' && (second.get(job) ?? 'waiting') !== outcome;
    }).length;
    return [...answers, ...(await this.#askAt(1 - relay, waited))];
  }
}
