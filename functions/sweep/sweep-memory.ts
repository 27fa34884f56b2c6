/**
 * What a process remembers from one sweep to the next. All of it saves calls: a process that starts anew learns it again.
 */
export interface SweepMemory {
  /** Runners that had live holds when last seen: one list of each shows most running jobs. */
  readonly runners: Set<number>;
  /** When GitLab last said that a live job is not over; who waits longest is asked about first. */
  readonly lookedAtMs: Map<number, number>;
  /** On which runner a live job was seen running. */
  readonly runnerOf: Map<number, number>;
  /** When the search for bypass last visited a runner. */
  readonly visitedAtMs: Map<number, number>;
  /** GitLab wants to be left alone until then, Unix ms. */
  quietUntilMs: number;
}

/** Fleets that register a runner per job would fill it; whoever does not fit is asked about one by one. */
const RUNNERS_MAX = 2_000;

export const newSweepMemory = (): SweepMemory => ({
  runners: new Set(),
  lookedAtMs: new Map(),
  runnerOf: new Map(),
  visitedAtMs: new Map(),
  quietUntilMs: 0,
});

/** Of a live job that runs. */
export function rememberRunner(memory: SweepMemory, jobId: number, runnerId: number | undefined): void {
  if (runnerId === undefined) return;
  memory.runnerOf.set(jobId, runnerId);
  if (memory.runners.size < RUNNERS_MAX) memory.runners.add(runnerId);
}

/** Jobs that appear count as looked at now: what was there before them comes first. */
export function keepLive(memory: SweepMemory, liveIds: ReadonlySet<number>, nowMs: number): void {
  for (const map of [memory.lookedAtMs, memory.runnerOf]) {
    for (const jobId of map.keys()) if (!liveIds.has(jobId)) map.delete(jobId);
  }
  for (const jobId of liveIds) if (!memory.lookedAtMs.has(jobId)) memory.lookedAtMs.set(jobId, nowMs);
}
