import { isTerminal, type JobTruth } from '../gitlab/job-truth.ts';
import type { JobEnd, JobRecord } from '../ledger/ledger.ts';
import { endOfJob } from '../settle/end-of-job.ts';
import type { SweepRun } from './sweep-run.ts';

export interface Judged {
  /** Not over, and not admitted as far as the ledger knows. */
  readonly open: readonly JobTruth[];
  /** The table did not answer for all of them. */
  readonly undecided: boolean;
}

/** GitLab's lists have a hundred jobs a page; strangers come many at once. */
const BATCH = 100;

/**
 * The ends of a page's jobs go to the ledger, which knows most of them already; what it does not know ran without
 * admission. So a lost webhook is healed here, too, whenever it is met.
 */
export async function judgePage(jobs: readonly JobTruth[], sinceMs: number, run: SweepRun): Promise<Judged> {
  const open: JobTruth[] = [];
  let undecided = false;
  const young = jobs.filter(({ startedAtMs }) => startedAtMs === undefined || startedAtMs >= sinceMs);
  for (let start = 0; start < young.length; start += BATCH) {
    const batch = young.slice(start, start + BATCH);
    open.push(
      ...(await withoutAdmission(
        batch.filter(({ status }) => !isTerminal(status)),
        run,
      )),
    );
    if (!(await settleOrCharge(batch, run))) undecided = true;
  }
  return { open, undecided };
}

async function withoutAdmission(
  jobs: readonly JobTruth[],
  { ledger }: SweepRun,
): Promise<readonly JobTruth[]> {
  if (jobs.length === 0) return [];
  const records = await ledger.readRecords(jobs.map(({ jobId }) => jobId));
  return jobs.filter((_, index) => !isHeld(records[index]));
}

const isHeld = (record: JobRecord | undefined): boolean =>
  record?.state === 'HELD' || record?.state === 'RUNNING';

/** @returns false if the table left one undecided. */
async function settleOrCharge(jobs: readonly JobTruth[], run: SweepRun): Promise<boolean> {
  const { ledger, clock, tally } = run;
  const ends = new Map<JobTruth, JobEnd>();
  for (const truth of jobs) {
    const what = endOfJob(truth, clock.nowMs());
    // What never ran is nobody's bypass; what holds for it is found with the live holds.
    if (what.kind === 'ran') ends.set(truth, what.end);
  }
  if (ends.size === 0) return true;
  const outcomes = await ledger.settle([...ends.values()]);
  for (const outcome of outcomes) {
    if (outcome === 'applied') tally.settled += 1;
    else if (outcome === 'corrected' || outcome === 'undecided') tally[outcome] += 1;
  }
  const unknown = [...ends.keys()].filter((_, index) => outcomes[index] === 'unknown');
  const charged = unknown.length === 0 ? [] : await run.chargeBypass(unknown);
  tally.bypass += charged.filter((outcome) => outcome === 'bypass').length;
  return !outcomes.includes('undecided') && !charged.includes('undecided');
}
