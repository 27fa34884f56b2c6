/**
 * Compares each end that a webhook reported with GitLab's REST API, within an hour of its arrival.
 *
 * 1. Read the deliveries of the oldest half hour that is over and not done yet.
 * 2. Go through its jobs by id, 300 at a time, and read their records.
 * 3. Ask GitLab: lists of their runners, a hundred jobs a page; single jobs where a list does not show them.
 * 4. Write only differences: REST replaces what the webhook reported, and charges jobs that have no record.
 * 5. Write the checkpoint after every 300 jobs. The next run goes on from there.
 */

import { withoutAbsent } from '../../policies/without-absent.ts';
import type { JobTruth } from '../core/gitlab/index.ts';
import { isLive, type JobRecord } from '../core/ledger/index.ts';
import { INBOX_SLOT_MS, inboxSlot } from '../core/store/index.ts';
import {
  concludeAll,
  endOfJob,
  parseHintText,
  rootOf,
  verdictOn,
  type WebhookHint,
} from '../core/truth/index.ts';
import { isUnderWay } from './judge-page.ts';
import { lookUp } from './look-up.ts';
import type { SweepRun } from './sweep-run.ts';

/** A delivery may still be written, and a replica of GitLab's may not have the end yet. */
const SETTLED_MS = 5 * 60_000;
/** Fewer than a run's calls at the least, so that the worst case gets through. */
const BATCH = 300;
/** Jobs without a record cost a call each, and a group's owner can make them up. Real ones beyond it are found by the search. */
const UNTRACKED_MAX = 1_000;
/** Runs that leave a batch with failed calls; then it is passed over, or one odd job would stop all others. */
const TRIES_MAX = 3;

export async function confirmEnds(run: SweepRun): Promise<void> {
  const { reported, clock, asking, tally } = run;
  if (reported === undefined || !asking.mayAsk()) return;
  const nowMs = clock.nowMs();
  const newest = inboxSlot(nowMs - SETTLED_MS) - 1;
  let { slot, doneTo } = (await reported.readCheckpoint()) ?? { slot: newest, doneTo: 0 };
  for (; slot <= newest; slot += 1, doneTo = 0) {
    const jobs = jobsIn(await reported.read(slot), doneTo);
    // The first delivery of a half hour is to be confirmed an hour after that began.
    if (jobs.length > 0)
      tally.oldestDueAgeMs = Math.max(tally.oldestDueAgeMs, nowMs - (slot + 2) * INBOX_SLOT_MS);
    const untracked = new Map<number, number>();
    while (jobs.length > 0) {
      const batch = jobs.splice(0, BATCH);
      if (!(await confirmBatch(batch, untracked, run))) return;
      doneTo = batch.at(-1)?.jobId ?? doneTo;
      if (jobs.length > 0) await reported.writeCheckpoint({ slot, doneTo });
    }
    await reported.writeCheckpoint({ slot: slot + 1, doneTo: 0 });
  }
}

interface ReportedJob {
  readonly jobId: number;
  readonly hints: readonly WebhookHint[];
}

/** By job id, so that jobs of one page of GitLab's lists are together. */
function jobsIn(bodies: readonly string[], doneTo: number): ReportedJob[] {
  const byJob = Map.groupBy(
    bodies.flatMap((body) => parseHintText(body) ?? []),
    ({ truth }) => truth.jobId,
  );
  return [...byJob]
    .filter(([jobId]) => jobId > doneTo)
    .map(([jobId, hints]) => ({ jobId, hints }))
    .sort((a, b) => a.jobId - b.jobId);
}

/** @returns false if GitLab or the table did not answer for all of them: they must come again. */
async function confirmBatch(
  jobs: readonly ReportedJob[],
  untracked: Map<number, number>,
  { ledger, clock, asking, memory, tally, strangers, concludeDeps }: SweepRun,
): Promise<boolean> {
  const records = await ledger.readRecords(jobs.map(({ jobId }) => jobId));
  const asked = jobs.flatMap(({ hints }, index) => askedJob(hints, records[index], untracked) ?? []);
  const answered: { readonly record: JobRecord | undefined; readonly truth: JobTruth }[] = [];
  let failed = 0;
  const unasked = await lookUp(
    asked,
    asking,
    async ({ record }, answer) => {
      if (answer.kind === 'failed') failed += 1;
      else if (answer.value !== undefined) answered.push({ record, truth: answer.value });
    },
    { runningFirst: false },
  );
  const nowMs = clock.nowMs();
  const decided = await concludeAll(
    answered.map(({ record, truth }) => verdictOn(record, truth, nowMs)),
    concludeDeps,
  );
  for (const { truth } of answered.filter((each) => isUnderWay(each.truth))) {
    // A made-up end: its charge is corrected when it really ends.
    memory.seenAtMs.delete(truth.jobId);
    strangers.set(truth.jobId, truth);
  }
  if (unasked.length > 0 || !decided || tally.gitlabSilent) return false;
  memory.confirmTries = failed === 0 ? 0 : memory.confirmTries + 1;
  if (memory.confirmTries % TRIES_MAX !== 0) return false;
  memory.confirmTries = 0;
  return true;
}

interface AskedJob {
  readonly jobId: number;
  readonly projectId: number;
  readonly runnerId?: number;
  readonly record: JobRecord | undefined;
}

/** Undefined: there is nothing to confirm, or its group has had its share. */
function askedJob(
  hints: readonly WebhookHint[],
  record: JobRecord | undefined,
  untracked: Map<number, number>,
): AskedJob | undefined {
  // Live holds are compared every minute.
  if (record !== undefined && isLive(record)) return undefined;
  const own = hints.find(({ groupId }) => record !== undefined && rootOf(record) === groupId);
  const hint = own ?? hints[0];
  if (hint === undefined) return undefined;
  const isCharged = record !== undefined && record.state !== 'REJECTED';
  if (!isCharged && endOfJob(hint.truth, 0).kind !== 'ran') return undefined;
  if (own === undefined) {
    const count = (untracked.get(hint.groupId) ?? 0) + 1;
    untracked.set(hint.groupId, count);
    if (count > UNTRACKED_MAX) return undefined;
  }
  const { jobId, projectId, runnerId } = hint.truth;
  return {
    jobId,
    projectId: record?.facts.projectId ?? projectId,
    ...withoutAbsent({ runnerId: record?.facts.asked?.runnerId ?? runnerId }),
    record,
  };
}
