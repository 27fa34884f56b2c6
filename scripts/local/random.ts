export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

export const WEEKDAY_WEIGHTS = [90, 110, 115, 110, 80, 8, 6] as const;

export interface JobKind {
  readonly name: string;
  readonly medianSeconds: number;
  readonly sigma: number;
  readonly runnerClass: 'small' | 'medium' | 'large';
  readonly timeoutSeconds: number;
}

export const STAGES: readonly (readonly JobKind[])[] = [
  [
    { name: 'lint', medianSeconds: 50, sigma: 0.25, runnerClass: 'small', timeoutSeconds: 3_600 },
    { name: 'build', medianSeconds: 240, sigma: 0.35, runnerClass: 'medium', timeoutSeconds: 3_600 },
  ],
  [
    { name: 'unit', medianSeconds: 180, sigma: 0.3, runnerClass: 'small', timeoutSeconds: 3_600 },
    { name: 'integration', medianSeconds: 480, sigma: 0.5, runnerClass: 'medium', timeoutSeconds: 3_600 },
    { name: 'e2e', medianSeconds: 900, sigma: 0.6, runnerClass: 'large', timeoutSeconds: 7_200 },
  ],
  [{ name: 'deploy', medianSeconds: 90, sigma: 0.8, runnerClass: 'small', timeoutSeconds: 3_600 }],
];
const JOB_CHANCE = 0.85;

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

export const drawSeconds = (kind: JobKind, medianSeconds: number, random: () => number): number =>
  Math.min(kind.timeoutSeconds, Math.max(1, logNormal(medianSeconds, kind.sigma, random)));

/** Days are counted from 1 January 1970, a Thursday; `WEEKDAY_WEIGHTS` begins on Monday. */
export const weightOfDay = (day: number): number => WEEKDAY_WEIGHTS[(day + 3) % 7] ?? 0;

export const logNormal = (median: number, sigma: number, random: () => number): number =>
  median * Math.exp(sigma * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()));

export function checksum(text: string): number {
  let sum = 0;
  for (const character of text) sum = (Math.imul(sum, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return sum;
}
