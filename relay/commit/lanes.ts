/**
 * Decides which jobs go to the ledger one after the other, how many together, and how many calls go at once.
 *
 * 1. Each root group has a lane: its jobs share counters, so two of its batches at once would compete.
 * 2. Root groups that compete for one counter become one lane for as long as they compete.
 * 3. A batch of one lane takes as many jobs as fit in one transaction: several would only follow each other.
 * 4. A relay that is short of CPU time makes fewer calls, each for more root groups, because most of its time goes into calls.
 */
import { REQUESTS_MAX } from '../../functions/core/contract/admissions.ts';
import { keepLatest } from '../../policies/keep-latest.ts';
import type { RelayClock } from '../exchange.ts';

/** Calls at once, and fewer by the share of time that the event loop is busy. A step saves time, so it ends well below. */
const CALLS_MAX = 8;
const FEWER_CALLS = [
  { calls: 4, from: 0.5, untilBelow: 0.35 },
  { calls: 2, from: 0.75, untilBelow: 0.55 },
];
const LOAD_MS = 250;
/** If more root groups compete for a counter, the others will too. */
const ROOTS_APART_MAX = 4;
const EVERYONE = 'all';
/** A batch that took one transaction lets the next one of its lane be larger by so many jobs. */
const JOBS_MORE = 8;
/** Joined groups do not compete, so only time can show that they may part. Each new contention doubles the time. */
const JOINED_MS_MIN = 10_000;
const JOINED_MS_MAX = 320_000;
const REMEMBERED_MS = 600_000;
const COUNTERS_MAX = 256;

export type Lanes = ReturnType<typeof createLanes>;

interface ContendedCounter {
  readonly roots: Set<string>;
  readonly joinedMs: number;
  readonly untilMs: number;
}

/** @param busyShare - share of the time since its last call that the relay was busy, 0 to 1. @default 0 */
export function createLanes(clock: Pick<RelayClock, 'monotonicMs'>, busyShare: () => number = () => 0) {
  const contended = new Map<string, ContendedCounter>();
  const fits = new Map<string, number>();
  let joined: ReadonlyMap<string, string> = new Map();
  let areAllJoined = false;
  let partsAtMs = Number.POSITIVE_INFINITY;
  let steps = 0;
  let loadReadMs = clock.monotonicMs();

  const laneOf = (root: string): string => (areAllJoined ? EVERYONE : (joined.get(root) ?? root));
  const jobsMax = (lane: string): number => fits.get(lane) ?? REQUESTS_MAX;

  function callsMax(): number {
    const nowMs = clock.monotonicMs();
    if (nowMs >= partsAtMs) join(nowMs);
    if (nowMs - loadReadMs >= LOAD_MS) {
      loadReadMs = nowMs;
      const [before, share] = [steps, busyShare()];
      steps = FEWER_CALLS.filter(
        ({ from, untilBelow }, step) => share >= (step < before ? untilBelow : from),
      ).length;
    }
    return FEWER_CALLS[steps - 1]?.calls ?? CALLS_MAX;
  }

  /** Jobs of these roots competed for a counter that several roots share: with each other, or with another relay. */
  function noteContended(counter: string, roots: readonly string[]): void {
    const nowMs = clock.monotonicMs();
    const known = contended.get(counter);
    const sinceMs = known === undefined ? Number.POSITIVE_INFINITY : nowMs - known.untilMs;
    const all = known === undefined || sinceMs >= 0 ? new Set<string>() : known.roots;
    for (const root of roots) if (all.size <= ROOTS_APART_MAX) all.add(root);
    const factor = sinceMs >= 0 ? 2 : 1;
    const joinedMs =
      known === undefined || sinceMs >= REMEMBERED_MS
        ? JOINED_MS_MIN
        : Math.min(JOINED_MS_MAX, factor * known.joinedMs);
    keepLatest(contended, counter, { roots: all, joinedMs, untilMs: nowMs + joinedMs }, COUNTERS_MAX);
    join(nowMs);
  }

  /** A batch with jobs of these roots took so many transactions. */
  function notePacked(roots: readonly string[], transactions: number): void {
    const [lane = '', ...more] = new Set(roots.map(laneOf));
    if (more.length > 0) return;
    const jobs = transactions > 1 ? Math.ceil(roots.length / transactions) : jobsMax(lane) + JOBS_MORE;
    if (jobs < REQUESTS_MAX) keepLatest(fits, lane, jobs, COUNTERS_MAX);
    else fits.delete(lane);
  }

  /** Joins roots that compete for one counter, and sets with a root in common. */
  function join(nowMs: number): void {
    const next = new Map<string, string>();
    partsAtMs = Number.POSITIVE_INFINITY;
    areAllJoined = false;
    for (const { roots, untilMs } of contended.values()) {
      if (untilMs <= nowMs) continue;
      partsAtMs = Math.min(partsAtMs, untilMs);
      areAllJoined ||= roots.size > ROOTS_APART_MAX;
      const names = new Set([...roots].map((root) => next.get(root) ?? root));
      const [name = ''] = names;
      for (const root of roots) next.set(root, name);
      for (const [root, other] of next) if (names.has(other)) next.set(root, name);
    }
    joined = next;
  }

  return { laneOf, jobsMax, callsMax, noteContended, notePacked };
}

export function eventLoopShare(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
