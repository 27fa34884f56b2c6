/** Two relays that ask the admit function in batches, die once each, and answer by the fallback when it does not. */

import { type DecideDeps, judgeRequests, recordUnmetered } from '../../../functions/core/admission/index.ts';
import type { UnmeteredAnswer } from '../../../functions/core/contract/index.ts';
import type { HoldOutcome } from '../../../functions/core/ledger/index.ts';
import type { HandClock } from '../../local/clock/hand-clock.ts';
import type { PlannedJob } from './draw-jobs.ts';
import type { EditionInForce } from './in-force.ts';
import { questionOf } from './question.ts';
import { RELAY_KILLS } from './workload.ts';

interface AdmissionsDeps {
  /** The admit function behind each relay: they share the table and nothing else. */
  readonly functions: readonly [DecideDeps, DecideDeps];
  readonly clock: HandClock;
  readonly inForce: EditionInForce;
  readonly random: () => number;
  readonly watch: AdmissionsWatch;
}

/** Told of everything that is asked and answered. */
export interface AdmissionsWatch {
  /** @returns what is to be called with the answers. */
  readonly asking: (jobs: readonly PlannedJob[]) => (outcomes: readonly HoldOutcome[]) => void;
  readonly letGoOn: (job: PlannedJob, atMs: number) => void;
}

interface Answer {
  readonly job: PlannedJob;
  readonly outcome: HoldOutcome;
}

export interface Admissions {
  /** One batch of one root group. `undecided`: the fallback admitted it, and posts it later. */
  ask(jobs: readonly PlannedJob[]): Promise<readonly Answer[]>;
  /** What the fallback answered is posted; what is not taken comes again. */
  postUnmetered(): Promise<void>;
  readonly counts: { askedTwice: number; answeredTwoWays: number; fallback: number; unmeteredLeft: number };
}

/** A relay's own deadline. */
const DEADLINE_MS = 2_000;
/** The router asks elsewhere once it has noticed. */
const NOTICED_MS = 3_000;

export function twoRelays({ functions, clock, inForce, random, watch }: AdmissionsDeps): Admissions {
  const counts = { askedTwice: 0, answeredTwoWays: 0, fallback: 0, unmeteredLeft: 0 };
  const killed = new Set<number>();
  let unmetered: readonly UnmeteredAnswer[] = [];

  async function hold(relay: number, jobs: readonly PlannedJob[]): Promise<readonly HoldOutcome[]> {
    const answered = watch.asking(jobs);
    const requests = jobs.map((job) => questionOf(job, inForce.now.tree));
    const deps = relay === 0 ? functions[0] : functions[1];
    const judged = await judgeRequests(requests, clock.monotonicMs() + DEADLINE_MS, deps);
    const outcomes = judged.map(({ outcome }) => outcome);
    answered(outcomes);
    return outcomes;
  }

  async function ask(jobs: readonly PlannedJob[]): Promise<readonly Answer[]> {
    const outcomes = await holdSomewhere(jobs, clock.nowMs());
    return jobs.map((job, index) => {
      const outcome = outcomes[index] ?? { outcome: 'undecided', cause: 'unavailable' };
      if (outcome.outcome === 'undecided') letGoOn(job);
      return { job, outcome };
    });
  }

  function letGoOn(job: PlannedJob): void {
    const answeredAtMs = clock.nowMs();
    const request = questionOf(job, inForce.now.tree);
    counts.fallback += 1;
    unmetered = [...unmetered, { request, answered: 'admitted', cause: 'unavailable', answeredAtMs }];
    watch.letGoOn(job, answeredAtMs);
  }

  async function holdSomewhere(jobs: readonly PlannedJob[], nowMs: number): Promise<readonly HoldOutcome[]> {
    const dead = RELAY_KILLS.find(
      ({ relay, atMs, backMs }) => killed.has(relay) && nowMs >= atMs && nowMs < backMs,
    );
    if (dead !== undefined) return hold(1 - dead.relay, jobs);
    const dies = RELAY_KILLS.find(({ relay, atMs }) => !killed.has(relay) && nowMs >= atMs);
    if (dies === undefined) return hold(random() < 0.5 ? 0 : 1, jobs);
    killed.add(dies.relay);
    return dieWith(dies.relay, jobs);
  }

  /** Its function goes on and nobody hears the answers; the same questions arrive at the other relay. */
  async function dieWith(relay: number, jobs: readonly PlannedJob[]): Promise<readonly HoldOutcome[]> {
    counts.askedTwice += jobs.length;
    const unheard = hold(relay, jobs);
    if (relay === 0) {
      await unheard;
      clock.advanceTo(clock.nowMs() + NOTICED_MS);
    }
    const [first, second] = await Promise.all([unheard, hold(1 - relay, jobs)]);
    counts.answeredTwoWays += second.filter(({ outcome }, index) => outcome !== first[index]?.outcome).length;
    return second;
  }

  async function postUnmetered(): Promise<void> {
    if (unmetered.length === 0) return;
    const results = await recordUnmetered(unmetered, functions[0]);
    unmetered = unmetered.filter((_, index) => results[index]?.outcome !== 'recorded');
    counts.unmeteredLeft = unmetered.length;
  }

  return { ask, postUnmetered, counts };
}
