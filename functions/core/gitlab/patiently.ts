import { GitLabError } from './gitlab.ts';

/** A wait that GitLab asks for, and how often one call may be put off. */
const WAIT_MS = 2_000;
const WAIT_MS_MAX = 60_000;
const WAITS_MAX = 5;

/** Repeats a call after a 429, after the delay that GitLab asks for. For background work. */
export async function patiently<Answer>(
  call: () => Promise<Answer>,
  sleep: (delayMs: number) => Promise<void>,
): Promise<Answer> {
  for (let waits = 0; ; waits += 1) {
    try {
      return await call();
    } catch (error) {
      const limited = error instanceof GitLabError && error.code === 'gitlab_rate_limited';
      if (!limited || waits >= WAITS_MAX) throw error;
      await sleep(Math.min(error.retryAfterMs ?? WAIT_MS, WAIT_MS_MAX));
    }
  }
}
