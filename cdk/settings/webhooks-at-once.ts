/** How many webhooks a deployment takes at once, from the jobs a second that it is made for. */

/** GitLab sends so many webhooks for each job: it was created, waits, runs, has ended. */
const DELIVERIES_PER_JOB = 4;
/** A burst of so many times the usual rate loses none. */
const BURST = 10;
/** From a delivery to its answer where the function has to start first, which in a burst each one does; 20 ms afterwards. */
const START_SECONDS = 0.5;

export const JOBS_PER_SECOND = { min: 1, max: 250, fallback: 1 } as const;

/**
 * What Lambda has to keep for the webhooks. Beyond it Lambda answers 429 before our program is asked, GitLab repeats nothing,
 * and four such answers in a row make it pause the webhook: every other end of a job is then the sweep's to find.
 */
export const webhooksAtOnce = (jobsPerSecond: number): number =>
  Math.ceil(jobsPerSecond * BURST * DELIVERIES_PER_JOB * START_SECONDS);
