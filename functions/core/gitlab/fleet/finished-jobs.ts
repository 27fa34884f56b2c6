import type { GitLab } from '../gitlab.ts';
import { isTerminal, type JobTruth, REJECTED_BY_ROUTER } from '../job-truth.ts';
import { patiently } from '../patiently.ts';

/** One page of a runner's jobs, those that ended in the span; the whole of it is to be kept before the next is asked for. */
export interface FinishedJobsPage {
  readonly runnerId: number;
  readonly jobs: readonly JobTruth[];
  readonly unreadable: number;
  /** The page to go on with; absent: the runner's jobs of the span are all read. */
  readonly next?: string;
  /** This runner has more jobs in the span than pages are read: what is older is missing. */
  readonly cut: boolean;
}

/** Checkpoint of one runner: `done`, or the next page and the number of pages read. */
export type JobsMark = 'done' | { readonly page: string; readonly pages: number };

interface JobSpan {
  /** Unix ms: jobs that ended before are left out, and reading stops at one created before. */
  readonly sinceMs: number;
  readonly untilMs: number;
  /** Read per runner at most; a page has 100 jobs. */
  readonly pagesMax: number;
  /** Checkpoints of an interrupted run. @default none */
  readonly marks?: ReadonlyMap<number, JobsMark>;
  readonly sleep: (delayMs: number) => Promise<void>;
}

/**
 * Yields finished jobs runner by runner, newest first by id: `GET /runners/:id/jobs` in keyset pages, which
 * are stable while jobs start and end. GitLab has no filter by time there, so newer jobs are read as well,
 * and a job that waited since before the span is missed.
 *
 * @throws {GitLabError}
 */
export async function* finishedJobs(
  gitlab: Pick<GitLab, 'listJobs'>,
  runnerIds: readonly number[],
  span: JobSpan,
): AsyncGenerator<FinishedJobsPage> {
  for (const runnerId of runnerIds) {
    const mark = span.marks?.get(runnerId);
    if (mark === 'done') continue;
    let page = mark?.page;
    for (let pages = mark?.pages ?? 0; ; ) {
      const found = await patiently(
        () => gitlab.listJobs(`runners/${runnerId}`, page === undefined ? {} : { page }),
        span.sleep,
      );
      pages += 1;
      const oldest = found.jobs.at(-1)?.createdAtMs ?? Number.POSITIVE_INFINITY;
      const isOver = found.next === undefined || oldest < span.sinceMs;
      const cut = !isOver && pages >= span.pagesMax;
      page = isOver || cut ? undefined : found.next;
      yield {
        runnerId,
        jobs: found.jobs.filter((job) => ranIn(job, span)),
        unreadable: found.unreadable ?? 0,
        cut,
        ...(page !== undefined && { next: page }),
      };
      if (page === undefined) break;
    }
  }
}

/** A job that the router refused did not run, nor one that was canceled while it waited. */
function ranIn({ status, startedAtMs, finishedAtMs, failureReason }: JobTruth, span: JobSpan): boolean {
  if (!isTerminal(status) || startedAtMs === undefined || finishedAtMs === undefined) return false;
  if (status === 'failed' && failureReason === REJECTED_BY_ROUTER) return false;
  return finishedAtMs >= span.sinceMs && finishedAtMs < span.untilMs;
}
