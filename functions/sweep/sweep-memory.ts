import { keepLatest } from '../../policies/keep-latest.ts';
import type { JobList } from '../core/gitlab/index.ts';

/** State that a process keeps between sweeps. It only saves calls: a new process learns it again. */
export interface SweepMemory {
  /** Runners that had live holds when last seen: one list of each shows most running jobs. */
  readonly runners: Set<number>;
  /** When GitLab last said that a live job is not over; who waits longest is asked about first. */
  readonly lookedAtMs: Map<number, number>;
  /** On which runner a live job was seen running. */
  readonly runnerOf: Map<number, number>;
  /** When the search for bypass last visited a runner, and when it last met a new job there. */
  readonly visits: Map<number, RunnerVisit>;
  /** Jobs the search need not look at again, and since when: they were admitted, or are over and charged. */
  readonly seenAtMs: Map<number, number>;
  /** GitLab wants to be left alone until then, Unix ms. */
  quietUntilMs: number;
  /** When it last looked for periods to close, Unix ms. */
  closedAtMs: number;
  /** Progress in one half hour of reported ends: ids of compared jobs, and the pages with which GitLab's lists go on. */
  confirming: { readonly slot: number; readonly done: Set<number>; readonly pages: Map<JobList, string> };
}

export interface RunnerVisit {
  readonly atMs: number;
  readonly newAtMs: number;
}

/** Installations with a runner per job would fill it; others are asked individually. */
const RUNNERS_MAX = 2_000;
/** Some hours of a large instance, a few megabytes; what does not fit is read from the ledger once more. */
const SEEN_MAX = 50_000;

export const newSweepMemory = (): SweepMemory => ({
  runners: new Set(),
  lookedAtMs: new Map(),
  runnerOf: new Map(),
  visits: new Map(),
  seenAtMs: new Map(),
  quietUntilMs: 0,
  closedAtMs: Number.NEGATIVE_INFINITY,
  confirming: { slot: 0, done: new Set(), pages: new Map() },
});

/** Called for live jobs that run. */
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

export function rememberSeen({ seenAtMs }: SweepMemory, jobId: number, nowMs: number): void {
  keepLatest(seenAtMs, jobId, nowMs, SEEN_MAX);
}

/** In the order in which they were seen. */
export function forgetSeen({ seenAtMs }: SweepMemory, beforeMs: number): void {
  for (const [jobId, atMs] of seenAtMs) {
    if (atMs >= beforeMs) return;
    seenAtMs.delete(jobId);
  }
}
