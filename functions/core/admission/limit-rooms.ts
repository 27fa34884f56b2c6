import { counterName, type LimitClaim } from '../../../policies/claim.ts';
import { keepLatest } from '../../../policies/keep-latest.ts';
import { type LimitRoom, ROOMS_MAX } from '../contract/admissions.ts';
import { errorName, type LedgerClock, type Log } from '../environment/environment.ts';
import type { Counter, Ledger } from '../ledger/ledger.ts';

/** A counter is read once a second at most, and once a minute at least while jobs claim from it. */
const AGE_MS = { min: 1_000, max: 60_000 } as const;
/** A counter is due earlier if this process held such a share of the rest: processes share a limit's jobs about evenly. */
const SPENT_SHARE = 1 / 100;
/** Counters per process; above it the oldest are read again. */
const COUNTERS_MAX = 10_000;

interface LimitRoomDeps {
  readonly ledger: Pick<Ledger, 'readCounters'>;
  readonly clock: LedgerClock;
  readonly log: Log;
}

export type BatchRooms = ReturnType<HeadroomReader['batch']>;

interface SeenCounter {
  readonly claim: LimitClaim;
  readonly counter: Counter;
}

interface LastRead {
  readonly atMs: number;
  readonly bound: number | undefined;
  /** Held by this process since, and how much of that makes it due. */
  held: number;
  heldMax: number;
}

export class HeadroomReader {
  readonly #deps: LimitRoomDeps;
  readonly #reads = new Map<string, LastRead>();

  constructor(deps: LimitRoomDeps) {
    this.#deps = deps;
  }

  batch() {
    const heldByName = new Map<string, number>();
    const seen: SeenCounter[] = [];
    return {
      look: (claims: readonly LimitClaim[]): void => {
        const due = this.#due(claims);
        if (due.length > 0) void this.#read(due, seen);
      },
      held: (claims: readonly LimitClaim[]): void => {
        for (const claim of claims) {
          const name = counterName(claim.counter);
          const read = this.#reads.get(name);
          if (read === undefined) continue;
          read.held += claim.amount;
          heldByName.set(name, (heldByName.get(name) ?? 0) + claim.amount);
        }
      },
      /** Empty if the counters did not come in time. */
      read: (): readonly LimitRoom[] => seen.flatMap((one) => roomOf(one, heldByName) ?? []),
    };
  }

  #due(claims: readonly LimitClaim[]): readonly LimitClaim[] {
    const nowMs = this.#deps.clock.monotonicMs();
    const due = new Map<string, LimitClaim>();
    for (const claim of claims) {
      const name = counterName(claim.counter);
      if (due.has(name) || isFresh(this.#reads.get(name), claim, nowMs) || !limitsFallback(claim)) continue;
      due.set(name, claim);
      keepLatest(this.#reads, name, { atMs: nowMs, bound: claim.bound, held: 0, heldMax: 0 }, COUNTERS_MAX);
      if (due.size === ROOMS_MAX) break;
    }
    return [...due.values()];
  }

  /** Adds nothing if the table does not answer: earlier headroom stays. */
  async #read(due: readonly LimitClaim[], seen: SeenCounter[]): Promise<void> {
    try {
      const counters = await this.#deps.ledger.readCounters(due.map(({ counter }) => counter));
      for (const [index, claim] of due.entries()) {
        const counter = counters[index];
        if (counter === undefined) continue;
        seen.push({ claim, counter });
        const read = this.#reads.get(counterName(claim.counter));
        if (read !== undefined) read.heldMax = ((claim.bound ?? 0) - counter.committed) * SPENT_SHARE;
      }
    } catch (error) {
      this.#deps.log.warn('room not read', { error: errorName(error) });
    }
  }
}

function isFresh(read: LastRead | undefined, { bound }: LimitClaim, nowMs: number): boolean {
  if (read === undefined) return false;
  const ageMs = nowMs - read.atMs;
  return ageMs < AGE_MS.min || (ageMs < AGE_MS.max && read.bound === bound && read.held < read.heldMax);
}

/** Includes jobs larger than the whole limit, e.g. a limit of 0. */
const limitsFallback = ({ mode, bound, neverFits, outage }: LimitClaim): boolean =>
  mode === 'enforce' &&
  (bound !== undefined || neverFits === true) &&
  (outage?.policy ?? 'admit') !== 'admit';

/** Amounts held meanwhile may be counted twice, so the headroom may be too small, never too large. */
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
