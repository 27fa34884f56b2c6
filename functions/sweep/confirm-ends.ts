/**
 * Compares each end that a webhook reported with GitLab's REST API, within an hour of its arrival.
 *
 * 1. Read the deliveries of the oldest half hour that is over and not done yet, and the records of its jobs.
 * 2. Ask GitLab: lists of their runners or projects, a hundred jobs a page; single jobs where a list does not show them.
 * 3. Write only differences: REST replaces what the webhook reported, and charges jobs that have no record.
 * 4. Write the checkpoint after the half hour. A run that ends early leaves the rest to the next one.
 */

import { withoutAbsent } from '../../policies/without-absent.ts';
import type { GitLabJob } from '../core/gitlab/gitlab.ts';
import { actionForJob, endOfJob } from '../core/job-ends/actions.ts';
import { concludeAll } from '../core/job-ends/conclude.ts';
import { parseHintText, rootGroupId, type WebhookHint } from '../core/job-ends/webhook-hints.ts';
import type { JobRecord } from '../core/ledger/ledger.ts';
import { isLive } from '../core/ledger/settle.ts';
import { INBOX_SLOT_MS, inboxSlot } from '../core/store/keys.ts';
import { type AskableJob, lookUp } from './look-up.ts';
import type { SweepRun } from './run.ts';
import { isUnderWay } from './untracked-jobs.ts';

/** A delivery may still be written, and a replica of GitLab's may not have the end yet. */
const SETTLED_MS = 5 * 60_000;
/** A day with a million jobs has fewer in half an hour. Records of more take too much memory. */
const JOBS_MAX = 25_000;
const BATCH = 300;
/** Jobs without a record cost a call each, and a group's owner can make them up. Real ones beyond it are found by the search. */
const UNTRACKED_MAX = 1_000;

export async function confirmEnds(run: SweepRun): Promise<void> {
  const { reported, clock, boundedGitLab, memory, tally } = run;
  if (reported === undefined || !boundedGitLab.mayAsk()) return;
  const nowMs = clock.nowMs();
  const newest = inboxSlot(nowMs - SETTLED_MS) - 1;
  for (let slot = (await reported.readCheckpoint()) ?? newest; slot <= newest; slot += 1) {
    if (memory.confirming.slot !== slot) memory.confirming = { slot, done: new Set(), pages: new Map() };
    const jobs = jobsIn(await reported.read(slot), memory.confirming.done);
    // The first delivery of a half hour is to be confirmed an hour after that began.
    if (jobs.length > 0)
      tally.oldestDueAgeMs = Math.max(tally.oldestDueAgeMs, nowMs - (slot + 2) * INBOX_SLOT_MS);
    const isThrough = await confirmJobs(jobs.slice(0, JOBS_MAX), run);
    if (!isThrough || jobs.length > JOBS_MAX) return;
    await reported.writeCheckpoint(slot + 1);
  }
}

type ReportedJob = readonly [jobId: number, hints: readonly WebhookHint[]];

function jobsIn(bodies: readonly string[], done: ReadonlySet<number>): ReportedJob[] {
  const byJob = Map.groupBy(
    bodies.flatMap((body) => parseHintText(body) ?? []),
    ({ gitlabJob }) => gitlabJob.jobId,
  );
  return [...byJob].filter(([jobId]) => !done.has(jobId)).sort(([a], [b]) => a - b);
}

async function confirmJobs(jobs: readonly ReportedJob[], run: SweepRun): Promise<boolean> {
  const { ledger, clock, boundedGitLab, memory, untracked } = run;
  const { done, pages } = memory.confirming;
  const records = await ledger.readRecords(jobs.map(([jobId]) => jobId));
  const untrackedByGroup = new Map<number, number>();
  const wanted: WantedJob[] = [];
  for (const [index, [jobId, hints]] of jobs.entries()) {
    const job = findWanted(hints, records[index], untrackedByGroup);
    if (job === undefined) done.add(jobId);
    else wanted.push(job);
  }
  let answered: { readonly record: JobRecord | undefined; readonly gitlabJob: GitLabJob }[] = [];
  const conclude = async (): Promise<void> => {
    const batch = answered;
    answered = [];
    const nowMs = clock.nowMs();
    const actions = batch.map(({ record, gitlabJob }) => actionForJob(record, gitlabJob, nowMs));
    if (await concludeAll(actions, run)) for (const { gitlabJob } of batch) done.add(gitlabJob.jobId);
  };
  const failed: number[] = [];
  await lookUp(
    wanted,
    boundedGitLab,
    async ({ jobId, record }, answer) => {
      if (answer.kind === 'failed') failed.push(jobId);
      else if (answer.value === undefined) done.add(jobId);
      else {
        answered.push({ record, gitlabJob: answer.value });
        if (isUnderWay(answer.value)) {
          // A made-up end: its charge is corrected when it really ends.
          memory.seenAtMs.delete(jobId);
          untracked.set(jobId, answer.value);
        }
        if (answered.length >= BATCH) await conclude();
      }
    },
    pages,
  );
  await conclude();
  // If GitLab answers another call, only these jobs fail. Skip them, so that they do not block the others.
  if (failed.length > 0 && (await boundedGitLab.runners(undefined)).kind === 'answered')
    for (const jobId of failed) done.add(jobId);
  return wanted.every(({ jobId }) => done.has(jobId));
}

interface WantedJob extends AskableJob {
  readonly record: JobRecord | undefined;
}

/** Undefined: there is nothing to confirm, or its group has had its share. */
function findWanted(
  hints: readonly WebhookHint[],
  record: JobRecord | undefined,
  untrackedByGroup: Map<number, number>,
): WantedJob | undefined {
  // Live holds are compared every minute.
  if (record !== undefined && isLive(record)) return undefined;
  const own = hints.find(({ groupId }) => record !== undefined && rootGroupId(record) === groupId);
  const hint = own ?? hints[0];
  if (hint === undefined) return undefined;
  const isCharged = record !== undefined && record.state !== 'REJECTED';
  if (!isCharged && endOfJob(hint.gitlabJob, 0).kind !== 'ran') return undefined;
  if (own === undefined) {
    const count = (untrackedByGroup.get(hint.groupId) ?? 0) + 1;
    untrackedByGroup.set(hint.groupId, count);
    if (count > UNTRACKED_MAX) return undefined;
  }
  const { jobId, projectId, runnerId } = hint.gitlabJob;
  return {
    jobId,
    projectId: record?.facts.projectId ?? projectId,
    ...withoutAbsent({ runnerId: record?.facts.asked?.runnerId ?? runnerId }),
    record,
  };
}
