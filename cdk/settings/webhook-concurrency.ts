/** Webhooks that GitLab sends for each job: it was created, waits, runs, has ended. */
const DELIVERIES_PER_JOB = 4;
/** A burst of this factor above the usual rate loses none. */
const BURST = 10;
/** From a delivery to its answer where the function has to start first, which in a burst each one does; 20 ms afterwards. */
const START_SECONDS = 0.5;

export const JOBS_PER_SECOND = { min: 1, max: 250, fallback: 1 } as const;

/** Above this concurrency Lambda answers 429. GitLab repeats no webhook, and disables a hook after four such answers in a row. */
export const webhookConcurrency = (jobsPerSecond: number): number =>
  Math.ceil(jobsPerSecond * BURST * DELIVERIES_PER_JOB * START_SECONDS);
