/** What is left of the limits that jobs are asked for, told to whoever must answer alone when nobody can be asked. */
import { type CounterKey, counterName, type LimitClaim } from '../../../policies/claim.ts';
import { keepLatest } from '../../../policies/keep-latest.ts';
import { type LimitRoom, ROOMS_MAX } from '../contract/index.ts';
import type { LedgerClock, Log } from '../environment/index.ts';
import type { Counter, Ledger } from '../ledger/index.ts';

/** How much older than the last answer a room may be. A read per second and counter is little beside the writes. */
const TELL_EVERY_MS = 1_000;
/** Counters of the groups one process serves; beyond it those told longest ago are told again. */
const COUNTERS_MAX = 10_000;

interface LimitRoomDeps {
  readonly ledger: Pick<Ledger, 'readCounters'>;
  readonly clock: LedgerClock;
  readonly log: Log;
}

/** The rooms of one batch. The counters are read while its jobs are held, and nobody waits for them. */
export interface BatchRooms {
  /** Begins to read what is due. */
  look(claims: readonly LimitClaim[]): void;
  /** These were held while the counters were read. */
  held(claims: readonly LimitClaim[]): void;
  /** Empty if the counters did not come in time. */
  told(): readonly LimitRoom[];
}

interface SeenCounter {
  readonly claim: LimitClaim;
  readonly counter: Counter;
}

/** Keep one per process: it knows what was told last. */
export class LimitRooms {
  readonly #deps: LimitRoomDeps;
  readonly #toldMs = new Map<string, number>();

  constructor(deps: LimitRoomDeps) {
    this.#deps = deps;
  }

  batch(): BatchRooms {
    const heldByName = new Map<string, number>();
    const seen: SeenCounter[] = [];
    const look = async (due: ReadonlyMap<string, LimitClaim>): Promise<void> => {
      const counters = await this.#read([...due.values()].map(({ counter }) => counter));
      for (const [index, claim] of [...due.values()].entries()) {
        const counter = counters[index];
        if (counter !== undefined) seen.push({ claim, counter });
      }
    };
    return {
      look: (claims) => {
        const due = this.#due(claims);
        if (due.size > 0) void look(due);
      },
      held: (claims) => {
        for (const claim of claims) {
          const name = counterName(claim.counter);
          heldByName.set(name, (heldByName.get(name) ?? 0) + claim.amount);
        }
      },
      told: () => seen.flatMap((one) => roomOf(one, heldByName) ?? []),
    };
  }

  /** Limits whose room was not told within the last second, by the names of their counters. */
  #due(claims: readonly LimitClaim[]): ReadonlyMap<string, LimitClaim> {
    const nowMs = this.#deps.clock.monotonicMs();
    const due = new Map<string, LimitClaim>();
    for (const claim of claims) {
      if (!asksInOutage(claim)) continue;
      const name = counterName(claim.counter);
      if (due.has(name) || nowMs - (this.#toldMs.get(name) ?? Number.NEGATIVE_INFINITY) < TELL_EVERY_MS)
        continue;
      due.set(name, claim);
      keepLatest(this.#toldMs, name, nowMs, COUNTERS_MAX);
      if (due.size === ROOMS_MAX) break;
    }
    return due;
  }

  /** Nothing where the table does not answer: what was told before stands. */
  async #read(keys: readonly CounterKey[]): Promise<readonly Counter[]> {
    try {
      return await this.#deps.ledger.readCounters(keys);
    } catch (error) {
      this.#deps.log.warn('room not read', {
        error: error instanceof Error ? error.name : 'unknown failure',
      });
      return [];
    }
  }
}

/** A job that is larger than the whole limit tells of it, too: a limit of 0 is one. */
const asksInOutage = ({ mode, bound, neverFits, outage }: LimitClaim): boolean =>
  mode === 'enforce' &&
  (bound !== undefined || neverFits === true) &&
  (outage?.policy ?? 'admit') !== 'admit';

/** What was held meanwhile may be counted twice, and the room is then too small by it: never too large. */
function roomOf(
  { claim, counter }: SeenCounter,
  heldByName: ReadonlyMap<string, number>,
): LimitRoom | undefined {
  const { rule, class: ruleClass, mode, outage } = claim;
  if (outage === undefined || outage.policy === 'admit') return undefined;
  const committed = counter.committed + (heldByName.get(counterName(claim.counter)) ?? 0);
  const reason = claim.refusal({ committed, settled: counter.settled });
  const { policy, periodMs } = outage;
  return {
    refusal: { rule, class: ruleClass, mode, reason },
    policy,
    ...(periodMs !== undefined && { periodMs }),
  };
}
