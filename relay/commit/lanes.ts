import { performance } from 'node:perf_hooks';
import { keepLatest } from '../../policies/keep-latest.ts';
import type { RelayClock } from '../exchange.ts';

/** Roots with little traffic share so many lanes, by hash: fewer calls and transactions, and still not all in one. */
const QUIET_LANES = Array.from({ length: 8 }, (_, index) => `quiet ${index}`);
/**
 * A relay that is short of time makes fewer, so that each call carries more: writing calls is what takes its time. By the share of it
 * that its loop is busy for; each step takes a sixth of that away, and is taken back well below.
 */
const FEWER_LANES = [
  { lanes: 4, from: 0.5, untilBelow: 0.35 },
  { lanes: 2, from: 0.75, untilBelow: 0.55 },
].map((step) => ({ ...step, sets: lanesInSets(step.lanes) }));
/** So many of them that fight for one counter stand for all. */
const ALL_QUIET_FROM = 3;
/** How often it is looked at which roots are busy. */
const LOOK_MS = 1_000;
/** And whether the relay itself is: a burst may be over within a second. */
const TIME_LOOK_MS = 250;
/** A busy root fills batches by itself: so many jobs a second, and so large a share of all. At half of both it is quiet again. */
const BUSY_PER_SECOND = 20;
const BUSY_SHARE = 1 / 8;
/** Roots counted between two looks; beyond it the relay has no time to count more. */
const COUNTED_MAX = 10_000;
/**
 * What was fought for stays in one lane for so long after the last fight: within a lane there are none, so silence does not mean
 * that they would not begin again. Each time they do, it stays twice as long.
 */
const JOINED_MS_MIN = 10_000;
const JOINED_MS_MAX = 320_000;
/** A counter's past is forgotten so long after its lanes were parted. */
const REMEMBERED_MS = 600_000;
/** Counters and lanes remembered; a deployment has a handful of limits that many roots share. */
const COUNTERS_MAX = 256;
const JOINED_LANES_MAX = 64;

/** What belongs into one batch. */
export interface Lanes {
  /** The name of the lane that a root's next batch goes by. */
  laneOf(root: string): string;
  /** A question about a job of the root arrived. */
  noteJob(root: string): void;
  /** Jobs of these roots fought for a counter that several roots share: with each other, or with another relay. */
  noteContended(counter: string, roots: readonly string[]): void;
  /** Another number than before: some root may have another lane. */
  readonly version: number;
}

interface FoughtCounter {
  readonly lanes: Set<string>;
  readonly joinedMs: number;
  readonly untilMs: number;
}

/**
 * A busy root has a lane of its own, quiet roots share lanes by hash, and lanes that fought for one counter are one lane for as
 * long as it is fought for: as many lanes would be as many rivals for one item.
 *
 * @param busyShare - of the relay's time since it was last asked, 0 to 1. @default it has time
 */
export function createLanes(
  clock: Pick<RelayClock, 'monotonicMs'>,
  busyShare: () => number = () => 0,
): Lanes {
  let busy: ReadonlySet<string> = new Set();
  const counts = new Map<string, number>();
  let countedSinceMs = clock.monotonicMs();
  const fought = new Map<string, FoughtCounter>();
  /** By lane, the name of the one that it is a part of. */
  let joined: ReadonlyMap<string, string> = new Map();
  let partsAtMs = Number.POSITIVE_INFINITY;
  /** How many steps of {@link FEWER_LANES} are taken. */
  let steps = 0;
  let timedSinceMs = countedSinceMs;
  let version = 0;

  const ownLaneOf = (root: string): string =>
    busy.has(root) ? `root ${root}` : (QUIET_LANES[hash(root) % QUIET_LANES.length] ?? root);

  function noteJob(root: string): void {
    const nowMs = clock.monotonicMs();
    if (nowMs >= partsAtMs) join(nowMs);
    if (nowMs - countedSinceMs >= LOOK_MS) look(nowMs);
    if (nowMs - timedSinceMs >= TIME_LOOK_MS) lookAtTime(nowMs);
    const count = counts.get(root);
    if (count !== undefined || counts.size < COUNTED_MAX) counts.set(root, (count ?? 0) + 1);
  }

  function look(nowMs: number): void {
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
    // What it fought for as a quiet root it goes on fighting for.
    for (const [root, quietLane] of quietLanes)
      for (const { lanes } of fought.values()) if (lanes.has(quietLane)) add(lanes, ownLaneOf(root));
    join(nowMs);
    version += 1;
  }

  function lookAtTime(nowMs: number): void {
    timedSinceMs = nowMs;
    const [was, share] = [steps, busyShare()];
    steps = FEWER_LANES.filter(
      ({ from, untilBelow }, step) => share >= (step < was ? untilBelow : from),
    ).length;
    if (steps !== was) join(nowMs);
  }

  function noteContended(counter: string, roots: readonly string[]): void {
    const nowMs = clock.monotonicMs();
    const known = fought.get(counter);
    const sinceMs = known === undefined ? Number.POSITIVE_INFINITY : nowMs - known.untilMs;
    const lanes = known === undefined || sinceMs >= 0 ? new Set<string>() : known.lanes;
    for (const root of roots) add(lanes, ownLaneOf(root));
    // By hash they are alike: what so many of them fight for, the others will, too.
    if (QUIET_LANES.filter((lane) => lanes.has(lane)).length >= ALL_QUIET_FROM)
      for (const lane of QUIET_LANES) add(lanes, lane);
    const longer = sinceMs >= 0 ? 2 : 1;
    const joinedMs =
      known === undefined || sinceMs >= REMEMBERED_MS
        ? JOINED_MS_MIN
        : Math.min(JOINED_MS_MAX, longer * known.joinedMs);
    keepLatest(fought, counter, { lanes, joinedMs, untilMs: nowMs + joinedMs }, COUNTERS_MAX);
    join(nowMs);
  }

  /** Joins the lanes that fought for one counter and those that time is too short for, and what has a lane in common with either. */
  function join(nowMs: number): void {
    const next = new Map<string, string>();
    partsAtMs = Number.POSITIVE_INFINITY;
    const sets: Iterable<string>[] = [...(FEWER_LANES[steps - 1]?.sets ?? [])];
    for (const { lanes, untilMs } of fought.values()) {
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
    laneOf: (root) => {
      const lane = ownLaneOf(root);
      return joined.get(lane) ?? lane;
    },
    noteJob,
    noteContended,
    get version() {
      return version;
    },
  };
}

/** The quiet lanes in so many sets. */
function lanesInSets(count: number): readonly (readonly string[])[] {
  return Array.from({ length: count }, (_, set) =>
    QUIET_LANES.filter((_lane, index) => index % count === set),
  );
}

function add(lanes: Set<string>, lane: string): void {
  if (lanes.size < JOINED_LANES_MAX) lanes.add(lane);
}

/** FNV-1a. */
function hash(text: string): number {
  let sum = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    sum = Math.imul(sum ^ text.charCodeAt(index), 0x01000193);
  return sum >>> 0;
}

/** @returns tells what share of the time since it was last asked this process's loop was busy for, 0 to 1. */
export function eventLoopShare(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
