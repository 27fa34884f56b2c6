/**
 * Decides which jobs go to the ledger together. Each lane has its own batches, and jobs in one batch do not compete for counters.
 *
 * 1. A busy root group has a lane of its own. Quiet root groups share eight lanes by hash.
 * 2. Lanes that compete for one counter become one lane for as long as they compete: more lanes would be more rivals.
 * 3. A relay that is short of CPU time uses fewer lanes, because most of its time goes into calls.
 */
import { performance } from 'node:perf_hooks';
import { keepLatest } from '../../policies/keep-latest.ts';
import type { RelayClock } from '../exchange.ts';

const QUIET_LANES = Array.from({ length: 8 }, (_, index) => `quiet ${index}`);
/** Steps by the share of time that the event loop is busy. Each step saves about a sixth of it, so it ends well below. */
const FEWER_LANES = [
  { lanes: 4, from: 0.5, untilBelow: 0.35 },
  { lanes: 2, from: 0.75, untilBelow: 0.55 },
].map((step) => ({ ...step, sets: quietLanesInSets(step.lanes) }));
/** If this many quiet lanes compete for a counter, the others will too, since the hash makes them alike. */
const ALL_QUIET_FROM = 3;
const COUNT_MS = 1_000;
const LOAD_MS = 250;
/** A root with this rate and this share of all jobs fills batches alone. At half of both it is quiet again. */
const BUSY_PER_SECOND = 20;
const BUSY_SHARE = 1 / 8;
const COUNTED_MAX = 10_000;
/** Joined lanes do not compete, so only time can show that they may part. Each new contention doubles the time. */
const JOINED_MS_MIN = 10_000;
const JOINED_MS_MAX = 320_000;
const REMEMBERED_MS = 600_000;
const COUNTERS_MAX = 256;
const JOINED_LANES_MAX = 64;

export type Lanes = ReturnType<typeof createLanes>;

interface ContendedCounter {
  readonly lanes: Set<string>;
  readonly joinedMs: number;
  readonly untilMs: number;
}

/** @param busyShare - share of the time since its last call that the relay was busy, 0 to 1. @default 0 */
export function createLanes(clock: Pick<RelayClock, 'monotonicMs'>, busyShare: () => number = () => 0) {
  let busy: ReadonlySet<string> = new Set();
  const counts = new Map<string, number>();
  let countedSinceMs = clock.monotonicMs();
  const contended = new Map<string, ContendedCounter>();
  let joined: ReadonlyMap<string, string> = new Map();
  let partsAtMs = Number.POSITIVE_INFINITY;
  let steps = 0;
  let loadReadMs = countedSinceMs;
  let version = 0;

  const ownLaneOf = (root: string): string =>
    busy.has(root) ? `root ${root}` : (QUIET_LANES[hash(root) % QUIET_LANES.length] ?? root);

  function noteJob(root: string): void {
    const nowMs = clock.monotonicMs();
    if (nowMs >= partsAtMs) join(nowMs);
    if (nowMs - countedSinceMs >= COUNT_MS) findBusy(nowMs);
    if (nowMs - loadReadMs >= LOAD_MS) readLoad(nowMs);
    const count = counts.get(root);
    if (count !== undefined || counts.size < COUNTED_MAX) counts.set(root, (count ?? 0) + 1);
  }

  function findBusy(nowMs: number): void {
    const seconds = (nowMs - countedSinceMs) / 1000;
    let jobs = 0;
    for (const count of counts.values()) jobs += count;
    const next = new Set<string>();
    for (const [root, count] of counts) {
      const part = busy.has(root) ? 0.5 : 1;
      if (count >= part * BUSY_PER_SECOND * seconds && count >= part * BUSY_SHARE * jobs) next.add(root);
    }
    counts.clear();
    countedSinceMs = nowMs;
    if (next.size === busy.size && [...next].every((root) => busy.has(root))) return;
    const quietLanes = new Map([...next].map((root) => [root, ownLaneOf(root)]));
    busy = next;
    // A root that competed in its quiet lane goes on competing in its own.
    for (const [root, quietLane] of quietLanes)
      for (const { lanes } of contended.values()) if (lanes.has(quietLane)) add(lanes, ownLaneOf(root));
    join(nowMs);
    version += 1;
  }

  function readLoad(nowMs: number): void {
    loadReadMs = nowMs;
    const [before, share] = [steps, busyShare()];
    steps = FEWER_LANES.filter(
      ({ from, untilBelow }, step) => share >= (step < before ? untilBelow : from),
    ).length;
    if (steps !== before) join(nowMs);
  }

  /** Jobs of these roots competed for a counter that several roots share: with each other, or with another relay. */
  function noteContended(counter: string, roots: readonly string[]): void {
    const nowMs = clock.monotonicMs();
    const known = contended.get(counter);
    const sinceMs = known === undefined ? Number.POSITIVE_INFINITY : nowMs - known.untilMs;
    const lanes = known === undefined || sinceMs >= 0 ? new Set<string>() : known.lanes;
    for (const root of roots) add(lanes, ownLaneOf(root));
    if (QUIET_LANES.filter((lane) => lanes.has(lane)).length >= ALL_QUIET_FROM)
      for (const lane of QUIET_LANES) add(lanes, lane);
    const factor = sinceMs >= 0 ? 2 : 1;
    const joinedMs =
      known === undefined || sinceMs >= REMEMBERED_MS
        ? JOINED_MS_MIN
        : Math.min(JOINED_MS_MAX, factor * known.joinedMs);
    keepLatest(contended, counter, { lanes, joinedMs, untilMs: nowMs + joinedMs }, COUNTERS_MAX);
    join(nowMs);
  }

  /** Joins lanes that compete for one counter and those of the active step, and sets with a lane in common. */
  function join(nowMs: number): void {
    const next = new Map<string, string>();
    partsAtMs = Number.POSITIVE_INFINITY;
    const sets: Iterable<string>[] = [...(FEWER_LANES[steps - 1]?.sets ?? [])];
    for (const { lanes, untilMs } of contended.values()) {
      if (untilMs <= nowMs) continue;
      partsAtMs = Math.min(partsAtMs, untilMs);
      sets.push(lanes);
    }
    for (const lanes of sets) {
      const names = new Set([...lanes].map((lane) => next.get(lane) ?? lane));
      const [name = ''] = [...names].sort();
      for (const lane of lanes) next.set(lane, name);
      for (const [lane, other] of next) if (names.has(other)) next.set(lane, name);
    }
    if (next.size === joined.size && [...next].every(([lane, name]) => joined.get(lane) === name)) return;
    joined = next;
    version += 1;
  }

  return {
    laneOf: (root: string): string => {
      const lane = ownLaneOf(root);
      return joined.get(lane) ?? lane;
    },
    noteJob,
    noteContended,
    get version(): number {
      return version;
    },
  };
}

function quietLanesInSets(count: number): readonly (readonly string[])[] {
  return Array.from({ length: count }, (_, set) =>
    QUIET_LANES.filter((_lane, index) => index % count === set),
  );
}

function add(lanes: Set<string>, lane: string): void {
  if (lanes.size < JOINED_LANES_MAX) lanes.add(lane);
}

function hash(text: string): number {
  let sum = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    sum = Math.imul(sum ^ text.charCodeAt(index), 0x01000193);
  return sum >>> 0;
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
