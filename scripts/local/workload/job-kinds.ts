/** Kinds of jobs, and when jobs come: the simulated month and the made-up month of `npm start` draw from these. */

/** Weight of each hour of a day: work starts at eight, noon is a break, and schedules run at two in the night. */
export const HOUR_WEIGHTS = [
  1, 1, 6, 2, 1, 1, 2, 8, 30, 60, 75, 70, 45, 65, 80, 75, 60, 40, 20, 10, 6, 4, 2, 1,
] as const;
/** Monday to Sunday. */
export const WEEKDAY_WEIGHTS = [90, 110, 115, 110, 80, 8, 6] as const;

export interface JobKind {
  readonly name: string;
  /** The median of the projects' medians, which are log-normal. */
  readonly medianSeconds: number;
  /** Spread of one project's runs around its median. */
  readonly sigma: number;
  readonly runnerClass: 'small' | 'medium' | 'large';
  readonly timeoutSeconds: number;
}

/** Stages run one after the other, and the jobs of a stage together. */
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
