/** Two relays that ask the ledger in batches, die once each, and answer by the fallback when the ledger does not. */

import type { Rules } from '../../functions/admit/decide-deps.ts';
import { toHoldAsk } from '../../functions/admit/judge.ts';
import type { HoldAsk, HoldOutcome, Ledger } from '../../functions/ledger/ledger.ts';
import type { LimitClaim } from '../../policies/claim.ts';
import { evaluate } from '../../policies/evaluate.ts';
import type { Places } from './draw-groups.ts';
import type { PlannedJob } from './draw-jobs.ts';
import { questionOf } from './question.ts';
import type { VirtualClock } from './virtual-clock.ts';
import { RELAY_KILLS } from './workload.ts';

export interface AdmissionsDeps {
  /** The admit function behind each relay: they share the table and nothing else. */
  readonly ledgers: readonly [Ledger, Ledger];
  readonly clock: VirtualClock;
  readonly rules: Rules;
  readonly places: Places;
  readonly random: () => number;
}

export interface Answer {
  readonly job: PlannedJob;
  readonly claims: readonly LimitClaim[];
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
const POST_TIMEOUT_MS = 5_000;

export function twoRelays({ ledgers, clock, rules, places, random }: AdmissionsDeps): Admissions {
  const counts = { askedTwice: 0, answeredTwoWays: 0, fallback: 0, unmeteredLeft: 0 };
  const killed = new Set<number>();
  let unmetered: { readonly ask: HoldAsk; readonly answeredAtMs: number }[] = [];

  const hold = (relay: number, asks: readonly HoldAsk[]): Promise<readonly HoldOutcome[]> =>
    (relay === 0 ? ledgers[0] : ledgers[1]).hold(asks, clock.monotonicMs() + DEADLINE_MS);

  async function ask(jobs: readonly PlannedJob[]): Promise<readonly Answer[]> {
    const nowMs = clock.nowMs();
    const asks = jobs.map((job) => {
      const request = questionOf(job, places);
      return toHoldAsk({ request, evaluation: evaluate(request, { ...rules, nowMs }) });
    });
    const outcomes = await holdSomewhere(asks, nowMs);
    return jobs.map((job, index) => {
      const outcome = outcomes[index] ?? { outcome: 'undecided', cause: 'unavailable' };
      const mine = asks[index];
      if (outcome.outcome === 'undecided' && mine !== undefined) {
        counts.fallback += 1;
        unmetered.push({ ask: mine, answeredAtMs: clock.nowMs() });
      }
      return { job, claims: mine?.claims ?? [], outcome };
    });
  }

  async function holdSomewhere(asks: readonly HoldAsk[], nowMs: number): Promise<readonly HoldOutcome[]> {
    const dead = RELAY_KILLS.find(
      ({ relay, atMs, backMs }) => killed.has(relay) && nowMs >= atMs && nowMs < backMs,
    );
    if (dead !== undefined) return hold(1 - dead.relay, asks);
    const dies = RELAY_KILLS.find(({ relay, atMs }) => !killed.has(relay) && nowMs >= atMs);
    if (dies === undefined) return hold(random() < 0.5 ? 0 : 1, asks);
    killed.add(dies.relay);
    return dieWith(dies.relay, asks);
  }

  /** Its function goes on and nobody hears the answers; the same questions arrive at the other relay. */
  async function dieWith(relay: number, asks: readonly HoldAsk[]): Promise<readonly HoldOutcome[]> {
    counts.askedTwice += asks.length;
    const unheard = hold(relay, asks);
    if (relay === 0) {
      await unheard;
      clock.advanceTo(clock.nowMs() + NOTICED_MS);
    }
    const [first, second] = await Promise.all([unheard, hold(1 - relay, asks)]);
    counts.answeredTwoWays += second.filter(({ outcome }, index) => outcome !== first[index]?.outcome).length;
    return second;
  }

  async function postUnmetered(): Promise<void> {
    if (unmetered.length === 0) return;
    const posted = unmetered.map(({ ask: mine, answeredAtMs }) => ({
      ...mine,
      answered: 'admitted' as const,
      cause: 'unavailable',
      answeredAtMs,
    }));
    const outcomes = await ledgers[0].recordUnmetered(posted, clock.monotonicMs() + POST_TIMEOUT_MS);
    unmetered = unmetered.filter((_, index) => outcomes[index] !== 'recorded');
    counts.unmeteredLeft = unmetered.length;
  }

  return { ask, postUnmetered, counts };
}
