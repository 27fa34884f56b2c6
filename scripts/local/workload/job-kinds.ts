/** Kinds of jobs, and when jobs come: the simulated month and the made-up month of `npm start` draw from these. */

/** Weight of each hour of a day, 0 to 23: people start at eight, eat at noon, and schedules run at two in the night. */
export const HOUR_WEIGHTS = [
  1, 1, 6, 2, 1, 1, 2, 8, 30, 60, 75, 70, 45, 65, 80, 75, 60, 40, 20, 10, 6, 4, 2, 1,
] as const;
/** Monday to Sunday. */
export const WEEKDAY_WEIGHTS = [90, 110, 115, 110, 80, 8, 6] as const;

export interface JobKind {
  readonly name: string;
  /** The median of the median: each project has its own, drawn once (log-normal with `PROJECT_SIGMA` of the simulation). */
  readonly medianSeconds: number;
  /** How far one project's runs lie around its own median. */
  readonly sigma: number;
  readonly runnerClass: 'small' | 'medium' | 'large';
  readonly timeoutSeconds: number;
}

/** A pipeline runs its stages one after the other, and the jobs of a stage together. */
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
/** Not every pipeline runs every job. */
export const JOB_CHANCE = 0.85;
