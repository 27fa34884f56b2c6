/**
 * How long a job is taken to run: the 90th percentile of the last 20 runs of its name on its runner class in its project,
 * from the third run on; a run counts for at most four times the median, and no estimate is below half a minute. Else the
 * default. Never more than the timeout.
 */
import type { AskedJob } from './asked-claims.ts';

export type EstimateBasis = 'history' | 'default' | 'timeout';

const RUNS = 20;
const RUNS_LEAST = 3;
const OUTLIER = 4;
const SECONDS_LEAST = 30;

export class RunEstimates {
  readonly #by: EstimateBasis;
  readonly #defaultSeconds: number;
  readonly #runs = new Map<string, number[]>();

  constructor(by: EstimateBasis, defaultSeconds: number) {
    this.#by = by;
    this.#defaultSeconds = defaultSeconds;
  }

  /** @param seconds - whole. */
  ran(job: AskedJob, seconds: number): void {
    if (this.#by !== 'history' || seconds <= 0) return;
    const runs = this.#runs.get(nameOf(job)) ?? [];
    runs.push(seconds);
    if (runs.length > RUNS) runs.shift();
    this.#runs.set(nameOf(job), runs);
  }

  secondsOf(job: AskedJob): number {
    if (this.#by === 'timeout') return job.timeoutSeconds;
    return Math.min(this.#byRuns(job) ?? this.#defaultSeconds, job.timeoutSeconds);
  }

  #byRuns(job: AskedJob): number | undefined {
    const runs = this.#runs.get(nameOf(job)) ?? [];
    if (runs.length < RUNS_LEAST) return undefined;
    const sorted = runs.toSorted((a, b) => a - b);
    const rank = (percent: number): number => sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? 0;
    return Math.max(SECONDS_LEAST, Math.min(rank(90), OUTLIER * rank(50)));
  }
}

const nameOf = ({ projectId, runnerClass, jobName }: AskedJob): string =>
  `${projectId} ${runnerClass} ${jobName}`;
