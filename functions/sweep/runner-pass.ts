/**
 * Decides when and how far to read a runner's jobs, and which are new. Pure.
 *
 * GitLab lists a runner's jobs by id, assigned when the pipeline is made; but a job is listed from its
 * start, which may be late (a later stage, a delayed or a manual job). So the id shows where to stop, and
 * the start whether the last search saw it.
 */
import { isTerminal, type JobTruth } from '../core/gitlab/index.ts';
import type { RunnerMark } from '../core/ledger/index.ts';
import type { RunnerVisit } from './sweep-memory.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** GitLab's clock may be five minutes off, and a list is a moment behind. */
export const OVERLAP_MS = 10 * MINUTE_MS;
/** A job that started below the mark and was too short for any list of running ones is found by the next deep search. */
export const DEEP_EVERY_MS = 6 * HOUR_MS;
/** GitLab delays a job by a week at most, and gives up on a waiting one after a day. */
const LATE_MS = 7 * 24 * HOUR_MS;
/** A page has a hundred jobs: where one runner's id stands for a whole fleet, a week would have no end. */
const DEEP_PAGES_MAX = 200;
/**
 * Nothing waits for this search: unadmitted jobs take no slot, and webhooks usually charge them. Every fifth
 * minute for a runner with jobs, less the schedule's tolerance.
 */
const VISIT_MS_MIN = 4.5 * MINUTE_MS;
/** A runner without new jobs is looked at again after a quarter of the time it has had none. */
const IDLE_SHARE = 1 / 4;
const IDLE_MS_MAX = 10 * MINUTE_MS;

interface Pass {
  readonly startMs: number;
  readonly deep: boolean;
}

/** Each runner's deep searches start at another time, to spread the load. */
export function isDeepDue(runnerId: number, deepMs: number, nowMs: number): boolean {
  const phaseMs = (((runnerId * 2_654_435_761) % 2 ** 32) / 2 ** 32) * DEEP_EVERY_MS;
  const round = (atMs: number): number => Math.floor((atMs + phaseMs) / DEEP_EVERY_MS);
  return round(nowMs) > round(deepMs);
}

export function isVisitDue(
  runnerId: number,
  mark: RunnerMark | undefined,
  visit: RunnerVisit | undefined,
  nowMs: number,
): boolean {
  if (mark === undefined || visit === undefined || mark.going !== undefined) return true;
  const idleMs = (visit.atMs - visit.newAtMs) * IDLE_SHARE;
  const waitMs = Math.min(IDLE_MS_MAX, Math.max(VISIT_MS_MIN, idleMs));
  return nowMs - visit.atMs >= waitMs || isDeepDue(runnerId, mark.deepMs, nowMs);
}

/** True if the last complete search cannot have seen it. */
export const isNewSince = (truth: JobTruth, { seenTo, passMs }: RunnerMark): boolean =>
  truth.jobId > seenTo || beganMs(truth) >= passMs - OVERLAP_MS;

/** True if this search must judge it. */
export const isToJudge = (truth: JobTruth, mark: RunnerMark, { deep }: Pass): boolean =>
  isNewSince(truth, mark) || (deep && beganMs(truth) >= mark.deepMs - OVERLAP_MS);

/** A job without any time never ran: its start will be new. */
const beganMs = ({ startedAtMs, finishedAtMs }: JobTruth): number =>
  startedAtMs ?? finishedAtMs ?? Number.NEGATIVE_INFINITY;

/** True if later pages are not needed. */
export function isThrough(
  jobs: readonly JobTruth[],
  mark: RunnerMark,
  { deep, pages, sinceMs }: Pass & { readonly pages: number; readonly sinceMs: number },
): boolean {
  if (jobs.length === 0) return false;
  if (deep) return pages >= DEEP_PAGES_MAX || jobs.every((job) => createdMs(job) < mark.deepMs - LATE_MS);
  return jobs.some(({ jobId }) => jobId <= mark.seenTo) || jobs.every((job) => ranBefore(job, sinceMs));
}

/** True for jobs from before the controller's scope. */
export const ranBefore = ({ startedAtMs, createdAtMs, status }: JobTruth, sinceMs: number): boolean =>
  startedAtMs === undefined
    ? isTerminal(status) && (createdAtMs ?? sinceMs) < sinceMs
    : startedAtMs < sinceMs;

const createdMs = ({ createdAtMs, startedAtMs }: JobTruth): number =>
  createdAtMs ?? startedAtMs ?? Number.POSITIVE_INFINITY;
