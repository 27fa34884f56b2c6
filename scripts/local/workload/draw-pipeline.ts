/** Draws pipelines with their jobs, for the simulated month and the made-up one. */
import { logNormal } from './draws.ts';
import { HOUR_WEIGHTS, JOB_CHANCE, type JobKind, STAGES, WEEKDAY_WEIGHTS } from './job-kinds.ts';

const HOUR_MS = 3_600_000;

/** Draws the jobs of one pipeline. A stage begins when the last job of the stage before has ended. */
export function drawPipeline<Job extends { readonly endsAtMs: number }>(
  startMs: number,
  random: () => number,
  drawJob: (kind: JobKind, atMs: number) => Job,
): readonly Job[] {
  const jobs: Job[] = [];
  let stageMs = startMs;
  for (const stage of STAGES) {
    let endMs = stageMs;
    for (const kind of stage) {
      if (random() >= JOB_CHANCE) continue;
      const job = drawJob(kind, stageMs);
      jobs.push(job);
      endMs = Math.max(endMs, job.endsAtMs);
    }
    stageMs = endMs;
  }
  return jobs;
}

/** Draws the duration of one run, around the median of its project. */
export const drawSeconds = (kind: JobKind, medianSeconds: number, random: () => number): number =>
  Math.min(kind.timeoutSeconds, Math.max(1, logNormal(medianSeconds, kind.sigma, random)));

/** Days are counted from 1 January 1970, a Thursday; `WEEKDAY_WEIGHTS` begins on Monday. */
export const weightOfDay = (day: number): number => WEEKDAY_WEIGHTS[(day + 3) % 7] ?? 0;

/**
 * Returns a draw of start times: hours by their weight, and any moment within.
 *
 * @param firstDay - counted from 1 January 1970, in the zone of `startMs`.
 */
export function startsWithin(
  startMs: number,
  firstDay: number,
  days: number,
): (random: () => number) => number {
  const weights = Array.from(
    { length: days * 24 },
    (_, hour) => weightOfDay(firstDay + Math.floor(hour / 24)) * (HOUR_WEIGHTS[hour % 24] ?? 0),
  );
  const ends = shareEnds(weights);
  return (random) => startMs + indexAt(ends, random()) * HOUR_MS + random() * HOUR_MS;
}

/** Returns the end of each weight's share on a scale from 0 to 1. */
export function shareEnds(weights: readonly number[]): readonly number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let until = 0;
  return weights.map((weight) => {
    until += weight / total;
    return until;
  });
}

/** Returns the index of the first end above the share. */
export function indexAt(ends: readonly number[], share: number): number {
  let low = 0;
  let high = ends.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ends[middle] ?? 1) > share) high = middle;
    else low = middle + 1;
  }
  return low;
}
