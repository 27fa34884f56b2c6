/** Many jobs in one call of the ledger, and one that makes it throw does not take the others along. */

import type { Log } from '../environment/index.ts';
import type { EndOutcome } from '../ledger/index.ts';

/** The ledger gives each call 10 s; this many ends are some five transactions. */
const JOBS_PER_CALL_MAX = 100;

/** `failed`: the ledger throws at this job, also when it comes alone. No retry will help; logged. */
export type EndedOutcome = EndOutcome | 'failed';

/** One outcome per job, same order. */
export async function together<Job extends { readonly jobId: number }>(
  jobs: readonly Job[],
  call: (some: readonly Job[]) => Promise<readonly EndOutcome[]>,
  log: Log,
): Promise<readonly EndedOutcome[]> {
  const outcomes: EndedOutcome[] = [];
  for (let from = 0; from < jobs.length; from += JOBS_PER_CALL_MAX) {
    const some = jobs.slice(from, from + JOBS_PER_CALL_MAX);
    outcomes.push(...(await oneCall(some, call).catch(() => oneByOne(some, call, log))));
  }
  return outcomes;
}

async function oneCall<Job>(
  jobs: readonly Job[],
  call: (some: readonly Job[]) => Promise<readonly EndOutcome[]>,
): Promise<readonly EndOutcome[]> {
  const answers = await call(jobs);
  return jobs.map((_, index) => answers[index] ?? 'undecided');
}

async function oneByOne<Job extends { readonly jobId: number }>(
  jobs: readonly Job[],
  call: (some: readonly Job[]) => Promise<readonly EndOutcome[]>,
  log: Log,
): Promise<readonly EndedOutcome[]> {
  const outcomes: EndedOutcome[] = [];
  for (const job of jobs) {
    try {
      outcomes.push(...(await oneCall([job], call)));
    } catch (error) {
      const name = error instanceof Error ? error.name : typeof error;
      log.error('end of job refused by the ledger', { jobId: job.jobId, error: name });
      outcomes.push('failed');
    }
  }
  return outcomes;
}
