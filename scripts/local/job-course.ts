import type { JobEnding } from './gitlab/job.ts';

/** What a job does when it runs. */
export interface JobCourse {
  readonly runsSeconds: number;
  readonly ending: JobEnding;
}

/** A job of one name takes about the same each time: somewhere between these, by its name, a fifth more or less. */
const USUAL_SECONDS_MIN = 150;
const USUAL_SECONDS_MAX = 600;
const SPREAD = 0.2;

const FAILS_SHARE = 0.05;
const CANCELED_SHARE = 0.02;

/** The local GitLab's jobs take what they take, whatever the ledger holds for them: sometimes less, sometimes more. */
export function jobCourse(name: string, timeoutSeconds: number, random: () => number): JobCourse {
  const usual = USUAL_SECONDS_MIN + (checksum(name) % (USUAL_SECONDS_MAX - USUAL_SECONDS_MIN));
  const wanted = usual * (1 - SPREAD + 2 * SPREAD * random());
  const fate = random();
  if (wanted >= timeoutSeconds) {
    return {
      runsSeconds: timeoutSeconds,
      ending: { status: 'failed', failureReason: 'job_execution_timeout' },
    };
  }
  if (fate < FAILS_SHARE) return { runsSeconds: wanted, ending: { status: 'failed' } };
  return {
    runsSeconds: wanted,
    ending: { status: fate < FAILS_SHARE + CANCELED_SHARE ? 'canceled' : 'success' },
  };
}

function checksum(text: string): number {
  let sum = 0;
  for (const character of text) sum = (Math.imul(sum, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return sum;
}
