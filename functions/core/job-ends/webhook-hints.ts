/**
 * Webhooks of groups → the ledger. A group's owner can choose the body that GitLab signs, so each field is a hint: it may end a
 * live job of that group early, and nothing else. The sweep compares each reported end with GitLab's REST API within an hour.
 *
 * | webhook reports | record | |
 * | --- | --- | --- |
 * | ended, ran | HELD, RUNNING | SETTLED at the reported duration |
 * | ended and never ran | HELD, RUNNING | RELEASED |
 * | rejected by the router | HELD, RUNNING | due now: the next sweep asks GitLab |
 * | any of these | of another group, or not possible by its times | nothing; counted as refused |
 * | any of these | any other state, or none | nothing: the sweep decides |
 */

import type { Directory } from '../../../policies/directory.ts';
import { isRecord, parsedJson } from '../../../policies/document/reading.ts';
import { placementOf } from '../../../policies/placement.ts';
import type { LedgerClock, Log } from '../environment/environment.ts';
import { type GitLabJob, JOB_STATUSES, REJECTED_BY_ROUTER } from '../gitlab/gitlab.ts';
import { isId } from '../gitlab/job-reader.ts';
import type { DueJob, EndOutcome, GoneJob, JobEnd, JobRecord, Ledger } from '../ledger/ledger.ts';
import { isLive } from '../ledger/settle.ts';
import { endOfJob } from './actions.ts';
import { type EndedOutcome, endEach } from './charge-bypass.ts';

export interface WebhookHint {
  readonly groupId: number;
  readonly gitlabJob: GitLabJob;
}

export interface HintDeps {
  readonly ledger: Pick<Ledger, 'settle' | 'release' | 'postpone'>;
  /** Finds projects that moved to another top-level group since their jobs were admitted. Never throws. */
  readonly directoryFor: (jobs: readonly { readonly projectId: number }[]) => Promise<Directory | undefined>;
  readonly clock: Pick<LedgerClock, 'nowMs'>;
  readonly log: Log;
}

/** `applied`: ended, or due now; `unchanged`: it had ended before; `unknown`: no record; `ignored`: reports no end. */
export type HintOutcome = EndedOutcome | 'refused' | 'ignored';

/** GitLab's clock may be so far from ours; signatures are believed for as long. */
const SKEW_MS = 5 * 60_000;

type HintedChange = { readonly hint: WebhookHint } & (
  | { readonly call: 'settle'; readonly job: JobEnd }
  | { readonly call: 'release'; readonly job: GoneJob }
  | { readonly call: 'postpone'; readonly job: DueJob }
);

/** One outcome per hint, same order. `undecided`: the table gave no answer; apply it again. */
export async function applyHints(hints: readonly WebhookHint[], deps: HintDeps) {
  const nowMs = deps.clock.nowMs();
  const outcomes = new Map<WebhookHint, HintOutcome>();
  const changes = hints.flatMap((hint) => toChange(hint, nowMs) ?? []);
  const isOfGroup = (record: JobRecord, { groupId }: WebhookHint): boolean => rootGroupId(record) === groupId;
  const foreign = await applyWhere(isOfGroup, changes, outcomes, deps);
  if (foreign.size > 0) {
    const projects = [...foreign.values()].map((projectId) => ({ projectId }));
    const directory = await deps.directoryFor(projects);
    const hasMovedTo = ({ facts: { projectId } }: JobRecord, { groupId }: WebhookHint): boolean =>
      projectId !== undefined && placementOf({ jobId: 0, projectId }, directory).ancestors[0]?.id === groupId;
    const others = await applyWhere(hasMovedTo, [...foreign.keys()], outcomes, deps);
    for (const { hint } of others.keys()) outcomes.set(hint, 'refused');
  }
  return hints.map((hint) => outcomes.get(hint) ?? 'ignored');
}

/** Undefined: it has not ended, or how long it ran is not said. */
function toChange(hint: WebhookHint, nowMs: number): HintedChange | undefined {
  const { jobId } = hint.gitlabJob;
  const what = endOfJob(hint.gitlabJob, nowMs);
  if (what.kind === 'ran') return { hint, call: 'settle', job: what.end };
  if (what.kind !== 'gone') return undefined;
  return what.cause === REJECTED_BY_ROUTER
    ? { hint, call: 'postpone', job: { jobId, dueAtMs: nowMs } }
    : { hint, call: 'release', job: { jobId, cause: what.cause } };
}

/** @returns those whose job is live and does not belong to the webhook's group, with the job's project. */
async function applyWhere(
  belongs: (record: JobRecord, hint: WebhookHint) => boolean,
  changes: readonly HintedChange[],
  outcomes: Map<WebhookHint, HintOutcome>,
  { ledger, clock, log }: HintDeps,
): Promise<ReadonlyMap<HintedChange, number>> {
  const nowMs = clock.nowMs();
  const foreign = new Map<HintedChange, number>();
  const refused = new Set<HintedChange>();
  const changeFor = new Map<object, HintedChange>(changes.map((change) => [change.job, change]));
  // The ledger asks again whenever the record turns out to be another: the last answer counts.
  const accepts = (record: JobRecord, job: object): boolean => {
    const change = changeFor.get(job);
    if (change === undefined) return false;
    refused.delete(change);
    foreign.delete(change);
    if (!isLive(record)) return false;
    if (!belongs(record, change.hint)) foreign.set(change, record.facts.projectId ?? 0);
    else if (isPossible(change, record, nowMs)) return true;
    else refused.add(change);
    return false;
  };
  const apply = async <Job extends HintedChange['job']>(
    call: HintedChange['call'],
    write: (jobs: readonly Job[]) => Promise<readonly EndOutcome[]>,
  ): Promise<void> => {
    const some = changes.filter((change) => change.call === call);
    const jobs = some.map(({ job }) => job as Job);
    const made = await endEach(jobs, write, log);
    some.forEach(({ hint }, index) => {
      outcomes.set(hint, made[index] ?? 'undecided');
    });
  };
  await apply('release', (jobs: readonly GoneJob[]) => ledger.release(jobs, accepts));
  await apply('settle', (jobs: readonly JobEnd[]) => ledger.settle(jobs, accepts));
  await apply('postpone', (jobs: readonly DueJob[]) => ledger.postpone(jobs, accepts));
  for (const { hint } of refused) outcomes.set(hint, 'refused');
  return foreign;
}

/** Absent: the admission did not know it, and the sweep alone ends the job. */
export const rootGroupId = ({ facts: { rootId, groupIds } }: JobRecord): number | undefined =>
  rootId ?? groupIds?.[0];

/** Not in the future, not before the admission, and not longer than since the admission. */
function isPossible(change: HintedChange, { decidedAtMs }: JobRecord, nowMs: number): boolean {
  const [earliestMs, latestMs] = [decidedAtMs - SKEW_MS, nowMs + SKEW_MS];
  const end = change.call === 'settle' ? change.job : undefined;
  const { startedAtMs, finishedAtMs } = change.hint.gitlabJob;
  return (
    [startedAtMs, finishedAtMs, end?.endedAtMs].every(
      (atMs) => atMs === undefined || (atMs >= earliestMs && atMs <= latestMs),
    ) && (end?.durationSeconds ?? 0) * 1000 <= latestMs - earliestMs
  );
}

/** Long labels must not make an item that the table refuses. */
const TEXT_CHARACTERS_MAX = 8_192;

export function hintText({ groupId, gitlabJob }: WebhookHint): string {
  const text = JSON.stringify({ groupId, ...gitlabJob });
  if (text.length <= TEXT_CHARACTERS_MAX) return text;
  const { ref, environment, jobStage, runnerTags, jobName, projectPath, ...facts } = gitlabJob;
  return JSON.stringify({ groupId, ...facts });
}

export function parseHintText(text: string): WebhookHint | undefined {
  const value = parsedJson(text);
  if (!isRecord(value)) return undefined;
  const { groupId, ...gitlabJob } = value;
  const { jobId, projectId, status } = gitlabJob;
  if (!isId(groupId) || !isId(jobId) || !isId(projectId)) return undefined;
  if (!JOB_STATUSES.some((each) => each === status)) return undefined;
  return { groupId, gitlabJob: gitlabJob as unknown as GitLabJob };
}
