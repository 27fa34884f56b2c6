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
import { isRecord } from '../../../policies/document/reading.ts';
import { placementOf } from '../../../policies/placement.ts';
import type { LedgerClock, Log } from '../environment/environment.ts';
import { JOB_STATUSES, type JobTruth, REJECTED_BY_ROUTER } from '../gitlab/gitlab.ts';
import type { DueJob, EndOutcome, GoneJob, JobEnd, JobRecord, Ledger } from '../ledger/ledger.ts';
import { isLive } from '../ledger/settle.ts';
import { type EndedOutcome, together } from './settle-truths.ts';
import { endOfJob } from './verdict.ts';

export interface WebhookHint {
  readonly groupId: number;
  readonly truth: JobTruth;
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

/** A hint and what it asks of the ledger: exactly one of the three. */
interface Wish {
  readonly hint: WebhookHint;
  readonly end?: JobEnd;
  readonly gone?: GoneJob;
  readonly due?: DueJob;
}

/** One outcome per hint, same order. `undecided`: the table gave no answer; apply it again. */
export async function applyHints(
  hints: readonly WebhookHint[],
  deps: HintDeps,
): Promise<readonly HintOutcome[]> {
  const nowMs = deps.clock.nowMs();
  const outcomes = new Map<WebhookHint, HintOutcome>();
  const wishes = hints.flatMap((hint) => wishOf(hint, nowMs) ?? []);
  const isOfGroup = (record: JobRecord, { groupId }: WebhookHint): boolean => rootOf(record) === groupId;
  const foreign = await applyWhere(isOfGroup, wishes, outcomes, deps);
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
function wishOf(hint: WebhookHint, nowMs: number): Wish | undefined {
  const { jobId } = hint.truth;
  const what = endOfJob(hint.truth, nowMs);
  if (what.kind === 'ran') return { hint, end: what.end };
  if (what.kind !== 'gone') return undefined;
  return what.cause === REJECTED_BY_ROUTER
    ? { hint, due: { jobId, dueAtMs: nowMs } }
    : { hint, gone: { jobId, cause: what.cause } };
}

/** @returns those whose job is live and does not belong to the webhook's group, with the job's project. */
async function applyWhere(
  belongs: (record: JobRecord, hint: WebhookHint) => boolean,
  wishes: readonly Wish[],
  outcomes: Map<WebhookHint, HintOutcome>,
  { ledger, clock, log }: HintDeps,
): Promise<ReadonlyMap<Wish, number>> {
  const nowMs = clock.nowMs();
  const foreign = new Map<Wish, number>();
  const refused = new Set<Wish>();
  const wishFor = new Map<object, Wish>(
    wishes.flatMap((wish) => [wish.end, wish.gone, wish.due].flatMap((job) => (job ? [[job, wish]] : []))),
  );
  // The ledger asks again whenever the record turns out to be another: the last answer counts.
  const accepts = (record: JobRecord, job: object): boolean => {
    const wish = wishFor.get(job);
    if (wish === undefined) return false;
    refused.delete(wish);
    foreign.delete(wish);
    if (!isLive(record)) return false;
    if (!belongs(record, wish.hint)) foreign.set(wish, record.facts.projectId ?? 0);
    else if (isPossible(wish, record, nowMs)) return true;
    else refused.add(wish);
    return false;
  };
  const apply = async <Job extends { readonly jobId: number }>(
    jobs: readonly Job[],
    call: (some: readonly Job[]) => Promise<readonly EndOutcome[]>,
  ): Promise<void> => {
    const made = await together(jobs, call, log);
    jobs.forEach((job, index) => {
      const wish = wishFor.get(job);
      if (wish !== undefined) outcomes.set(wish.hint, made[index] ?? 'undecided');
    });
  };
  await apply(
    wishes.flatMap(({ gone }) => gone ?? []),
    (jobs) => ledger.release(jobs, accepts),
  );
  await apply(
    wishes.flatMap(({ end }) => end ?? []),
    (jobs) => ledger.settle(jobs, accepts),
  );
  await apply(
    wishes.flatMap(({ due }) => due ?? []),
    (jobs) => ledger.postpone(jobs, accepts),
  );
  for (const { hint } of refused) outcomes.set(hint, 'refused');
  return foreign;
}

/** Absent: the admission did not know it, and the sweep alone ends the job. */
export const rootOf = ({ facts: { rootId, groupIds } }: JobRecord): number | undefined =>
  rootId ?? groupIds?.[0];

/** Not in the future, not before the admission, and not longer than since the admission. */
function isPossible({ end, hint: { truth } }: Wish, { decidedAtMs }: JobRecord, nowMs: number): boolean {
  const [earliestMs, latestMs] = [decidedAtMs - SKEW_MS, nowMs + SKEW_MS];
  const instants = [truth.startedAtMs, truth.finishedAtMs, end?.endedAtMs];
  return (
    instants.every((atMs) => atMs === undefined || (atMs >= earliestMs && atMs <= latestMs)) &&
    (end?.durationSeconds ?? 0) * 1000 <= latestMs - earliestMs
  );
}

// A webhook's hint about a job, as it waits in the inbox: JSON of a few hundred bytes.

/** A write unit is 1 KB. Long labels must not make an item that the table refuses. */
const TEXT_CHARACTERS_MAX = 8_192;

/** Labels to drop from a text that is too long, least important first. Ids, status and times stay. */
const LABELS = ['ref', 'environment', 'jobStage', 'runnerTags', 'jobName', 'projectPath'] as const;

export function hintText({ groupId, truth }: WebhookHint): string {
  const shortened: { -readonly [Name in keyof JobTruth]: JobTruth[Name] } = { ...truth };
  let text = JSON.stringify({ groupId, ...shortened });
  for (const label of LABELS) {
    if (text.length <= TEXT_CHARACTERS_MAX) break;
    delete shortened[label];
    text = JSON.stringify({ groupId, ...shortened });
  }
  return text;
}

/** Returns undefined for a text that `hintText` has not written. */
export function parseHintText(text: string): WebhookHint | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { groupId, ...truth } = value;
  return isId(groupId) && isTruth(truth) ? { groupId, truth: truth as unknown as JobTruth } : undefined;
}

/** The ids and the status that decide; the rest is as `hintText` wrote it. */
function isTruth(value: Readonly<Record<string, unknown>>): boolean {
  const { jobId, projectId, status } = value;
  return isId(jobId) && isId(projectId) && JOB_STATUSES.some((each) => each === status);
}

const isId = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0;
