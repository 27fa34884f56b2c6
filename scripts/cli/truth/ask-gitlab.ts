/** Reads GitLab's facts about given jobs, and about jobs without an admission request. */
import {
  type GitLab,
  GitLabError,
  type JobsPage,
  type JobTruth,
  patiently,
} from '../../../functions/core/gitlab/index.ts';

interface AskOptions {
  /** Unix ms: a runner's jobs are read back to here. */
  readonly sinceMs: number;
  /** Jobs asked about one by one, at most. */
  readonly askedMax: number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly onCall: () => void;
}

interface WantedJob {
  readonly jobId: number;
  readonly projectId: number | undefined;
}

export interface GitLabTruths {
  /** Keyed by job id; `undefined` for one that GitLab does not know. */
  readonly truths: ReadonlyMap<number, JobTruth | undefined>;
  /** Wanted jobs GitLab could not be asked about: their project is not known, or there were too many. */
  readonly unasked: number;
  /** If jobs of all runners were seen; otherwise the number of bypassed jobs is unknown. */
  readonly runners: 'all' | 'some' | 'refused';
}

/** An instance with more runners is read in part, and it is said. */
const RUNNERS_MAX = 2_000;
/** A page has 20 to 100 jobs: enough for a day of the busiest runner. */
const PAGES_PER_RUNNER_MAX = 100;
const RUNNER_PAGES_MAX = 200;
/** More parallel calls burden a small GitLab. */
const AT_ONCE = 4;

/**
 * Uses lists first, because one call covers many jobs; then one call per missing job.
 *
 * @throws {GitLabError} if GitLab does not answer. A refused list of runners is no failure.
 */
export async function askGitLab(
  wanted: readonly WantedJob[],
  gitlab: GitLab,
  options: AskOptions,
): Promise<GitLabTruths> {
  const truths = new Map<number, JobTruth | undefined>();
  const runners = await listJobs(truths, gitlab, options);
  const missing = wanted.filter(({ jobId }) => !truths.has(jobId));
  const askable = missing.filter(({ projectId }) => projectId !== undefined).slice(0, options.askedMax);
  await each(askable, async ({ jobId, projectId = 0 }) => {
    truths.set(jobId, await counted(() => gitlab.job(projectId, jobId), options));
  });
  return { truths, unasked: missing.length - askable.length, runners };
}

async function listJobs(
  truths: Map<number, JobTruth | undefined>,
  gitlab: GitLab,
  options: AskOptions,
): Promise<GitLabTruths['runners']> {
  const runnerIds: number[] = [];
  let page: string | undefined;
  try {
    for (let pages = 0; pages < RUNNER_PAGES_MAX; pages += 1) {
      const from = page;
      const found = await counted(() => gitlab.runners(from === undefined ? {} : { page: from }), options);
      runnerIds.push(...found.runnerIds);
      page = found.next;
      if (page === undefined || runnerIds.length >= RUNNERS_MAX) break;
    }
  } catch (error) {
    if (error instanceof GitLabError && error.code === 'gitlab_refused') return 'refused';
    throw error;
  }
  let whole = page === undefined && runnerIds.length <= RUNNERS_MAX;
  await each(runnerIds.slice(0, RUNNERS_MAX), async (runnerId) => {
    if (!(await listRunner(runnerId, truths, gitlab, options))) whole = false;
  });
  return whole ? 'all' : 'some';
}

/**
 * Returns true if all jobs since then were seen. Newest first by id, so the first old page is the last one
 * needed.
 */
async function listRunner(
  runnerId: number,
  truths: Map<number, JobTruth | undefined>,
  gitlab: GitLab,
  options: AskOptions,
): Promise<boolean> {
  let page: string | undefined;
  for (let pages = 0; pages < PAGES_PER_RUNNER_MAX; pages += 1) {
    const from = page;
    const found: JobsPage = await counted(
      () => gitlab.listJobs(`runners/${runnerId}`, from === undefined ? {} : { page: from }),
      options,
    );
    for (const truth of found.jobs) if (lastHeardMs(truth) >= options.sinceMs) truths.set(truth.jobId, truth);
    const oldest = found.jobs.at(-1);
    page = found.next;
    if (page === undefined || (oldest !== undefined && createdMs(oldest) < options.sinceMs)) return true;
  }
  return false;
}

const createdMs = ({ createdAtMs, startedAtMs }: JobTruth): number =>
  createdAtMs ?? startedAtMs ?? Number.POSITIVE_INFINITY;

const lastHeardMs = ({ finishedAtMs, startedAtMs, createdAtMs }: JobTruth): number =>
  finishedAtMs ?? startedAtMs ?? createdAtMs ?? Number.POSITIVE_INFINITY;

const counted = <Answer>(call: () => Promise<Answer>, { sleep, onCall }: AskOptions): Promise<Answer> =>
  patiently(() => {
    onCall();
    return call();
  }, sleep);

async function each<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
