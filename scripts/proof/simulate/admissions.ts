/** Two relays that ask the admit function in batches, die once each, and answer by the fallback when it does not. */

import {
  type DecideDeps,
  judgeRequests,
  recordUnmetered,
  waitsOf,
} from '../../../functions/core/admission/index.ts';
import type { UnmeteredAnswer, WaitingTerms } from '../../../functions/core/contract/index.ts';
import type { HoldOutcome } from '../../../functions/core/ledger/index.ts';
import type { HandClock } from '../../local/clock.ts';
import type { PlannedJob } from './draw-jobs.ts';
import type { EditionInForce } from './in-force.ts';
import type { Parts } from './parts.ts';
import { questionOf } from './question.ts';
import type { SimulatedQuestion } from './questions.ts';
import { CALL_MS_MAX, type RelayAnswer, SimulatedRelay } from './simulated-relay.ts';
import { RELAY_KILLS } from './workload.ts';

interface AdmissionsDeps {
  /** The admit function behind each relay: they share the table and nothing else. */
  readonly functions: readonly [DecideDeps, DecideDeps];
  readonly clock: HandClock;
  readonly inForce: EditionInForce;
  readonly random: () => number;
  readonly waiting: Parts['waiting'];
  readonly watch: AdmissionsWatch;
}

/** Told of everything that is asked and answered. */
export interface AdmissionsWatch {
  /** One call of a relay's. @returns what is to be called with the answers. */
  readonly asking: (
    relay: number,
    jobs: readonly PlannedJob[],
    terms: WaitingTerms,
  ) => (outcomes: readonly HoldOutcome[]) => void;
  /** The router has its answer. */
  readonly answered: (relay: number, answer: RelayAnswer) => void;
  /** Nobody listens at that relay any more: to this job, or to any. */
  readonly gone: (relay: number, jobId?: number) => void;
  readonly letGoOn: (job: PlannedJob, atMs: number) => void;
}

export interface Admissions {
  /** Questions of one root group. @returns all answers there are by now. `undecided`: the fallback admitted it, and posts it later. */
  ask(questions: readonly SimulatedQuestion[]): Promise<readonly RelayAnswer[]>;
  /** When a relay has to ask again about somebody who waits. */
  readonly nextMs: number;
  /** Does what is due by now. */
  work(): Promise<readonly RelayAnswer[]>;
  /** What the fallback answered is posted; what is not taken comes again. */
  postUnmetered(): Promise<void>;
  readonly counts: { askedTwice: number; answeredTwoWays: number; fallback: number; unmeteredLeft: number };
}

/** The router asks elsewhere once it has noticed. */
const NOTICED_MS = 3_000;

export function twoRelays({ functions, clock, inForce, random, waiting, watch }: AdmissionsDeps): Admissions {
  const counts = { askedTwice: 0, answeredTwoWays: 0, fallback: 0, unmeteredLeft: 0 };
  const killed = new Set<number>();
  const jobs = new Map<number, PlannedJob>();
  let unmetered: readonly UnmeteredAnswer[] = [];
  const relays: [SimulatedRelay, SimulatedRelay] = [newRelay(0), newRelay(1)];

  function newRelay(relay: number): SimulatedRelay {
    return new SimulatedRelay({
      clock,
      requestOf: ({ job }) => questionOf(job, inForce.now.tree),
      send: (jobIds, terms, deadlineMs) => {
        const asked = jobIds.flatMap((jobId) => jobs.get(jobId) ?? []);
        return hold(asked, { relay, by: relay, terms, deadlineMs });
      },
      waiting,
    });
  }

  /** @param by - whose function it is; who waits is known to the relay. */
  async function hold(
    asked: readonly PlannedJob[],
    call: {
      readonly relay: number;
      readonly by: number;
      readonly terms: WaitingTerms;
      readonly deadlineMs: number;
    },
  ): Promise<readonly HoldOutcome[]> {
    const { relay, by, terms, deadlineMs } = call;
    const answered = watch.asking(relay, asked, terms);
    const requests = asked.map((job) => questionOf(job, inForce.now.tree));
    const deps = by === 0 ? functions[0] : functions[1];
    const judged = await judgeRequests(requests, deadlineMs, { ...deps, waitOf: waitsOf(terms) });
    const outcomes = judged.map(({ outcome }) => outcome);
    answered(outcomes);
    return outcomes;
  }

  async function ask(questions: readonly SimulatedQuestion[]): Promise<readonly RelayAnswer[]> {
    for (const { job } of questions) {
      if (jobs.has(job.jobId)) giveUp(job.jobId);
      jobs.set(job.jobId, job);
    }
    return somewhere(questions, clock.nowMs());
  }

  function giveUp(jobId: number): void {
    for (const [relay, each] of relays.entries()) {
      each.gaveUp(jobId);
      watch.gone(relay, jobId);
    }
  }

  async function askAt(
    relay: number,
    questions: readonly SimulatedQuestion[],
  ): Promise<readonly RelayAnswer[]> {
    return told(relay, await relayAt(relay).ask(questions));
  }

  const relayAt = (relay: number): SimulatedRelay => (relay === 0 ? relays[0] : relays[1]);

  function told(relay: number, answers: readonly RelayAnswer[]): readonly RelayAnswer[] {
    for (const answer of answers) {
      watch.answered(relay, answer);
      if (answer.outcome.outcome === 'undecided') letGoOn(answer.question.job);
    }
    return answers;
  }

  function letGoOn(job: PlannedJob): void {
    const answeredAtMs = clock.nowMs();
    const request = questionOf(job, inForce.now.tree);
    counts.fallback += 1;
    unmetered = [...unmetered, { request, answered: 'admitted', cause: 'unavailable', answeredAtMs }];
    watch.letGoOn(job, answeredAtMs);
  }

  async function somewhere(
    questions: readonly SimulatedQuestion[],
    nowMs: number,
  ): Promise<readonly RelayAnswer[]> {
    const dead = RELAY_KILLS.find(
      ({ relay, atMs, backMs }) => killed.has(relay) && nowMs >= atMs && nowMs < backMs,
    );
    if (dead !== undefined) return askAt(1 - dead.relay, questions);
    const dies = RELAY_KILLS.find(({ relay, atMs }) => !killed.has(relay) && nowMs >= atMs);
    if (dies === undefined) return askAt(random() < 0.5 ? 0 : 1, questions);
    killed.add(dies.relay);
    return dieWith(dies.relay, questions);
  }

  /** Its function goes on and nobody hears the answers; all it was asked arrives at the other relay. */
  async function dieWith(
    relay: number,
    questions: readonly SimulatedQuestion[],
  ): Promise<readonly RelayAnswer[]> {
    const waited = relayAt(relay).die();
    watch.gone(relay);
    relays[relay] = newRelay(relay);
    counts.askedTwice += questions.length + waited.length;
    const asked = questions.map(({ job }) => job);
    // Both know the same of those that wait, so that both say the same.
    const terms = relayAt(1 - relay).terms(asked.map(({ jobId }) => jobId));
    const deadlineMs = clock.monotonicMs() + CALL_MS_MAX;
    const unheard = hold(asked, { relay: 1 - relay, by: relay, terms, deadlineMs });
    if (relay === 0) {
      await unheard;
      clock.advanceTo(clock.nowMs() + NOTICED_MS);
    }
    const [first, answers] = await Promise.all([unheard, askAt(1 - relay, questions)]);
    const second = new Map(answers.map(({ question, outcome }) => [question.job.jobId, outcome.outcome]));
    counts.answeredTwoWays += asked.filter(({ jobId }, index) => {
      const outcome = first[index]?.outcome;
      return outcome !== 'waiting' && (second.get(jobId) ?? 'waiting') !== outcome;
    }).length;
    return [...answers, ...(await askAt(1 - relay, waited))];
  }

  async function postUnmetered(): Promise<void> {
    if (unmetered.length === 0) return;
    const results = await recordUnmetered(unmetered, functions[0]);
    unmetered = unmetered.filter((_, index) => results[index]?.outcome !== 'recorded');
    counts.unmeteredLeft = unmetered.length;
  }

  return {
    ask,
    get nextMs() {
      return Math.min(relays[0].nextMs, relays[1].nextMs);
    },
    work: async () => [...told(0, await relays[0].work()), ...told(1, await relays[1].work())],
    postUnmetered,
    counts,
  };
}
