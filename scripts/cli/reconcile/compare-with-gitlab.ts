import { atOnce } from '../../../functions/core/environment/environment.ts';
import { GitLabError, type GitLabJob } from '../../../functions/core/gitlab/gitlab.ts';
import { retryWhenLimited } from '../../../functions/core/gitlab/rest-call.ts';
import type { GitLab } from '../../../functions/core/gitlab/rest-gitlab.ts';
import { enforcementProof, unadmittedShare } from '../../../functions/core/job-ends/enforcement-proof.ts';
import type { ControllerScope } from '../../../functions/core/ledger/controller.ts';
import type { JobRecord } from '../../../functions/core/ledger/ledger.ts';
import { isLive } from '../../../functions/core/ledger/settle.ts';
import type { LedgerStore } from '../../../functions/core/ledger/store.ts';

interface CompareOptions {
  /** Unix ms: live jobs, and those that were decided or ended since. */
  readonly sinceMs: number;
  readonly nowMs: number;
  /** The controller's scope, as the sweep last read it. Undefined: all jobs. */
  readonly scope: ControllerScope | undefined;
  readonly sleep: (ms: number) => Promise<void>;
  readonly onCall: () => void;
}

export type HoldComparison = Awaited<ReturnType<typeof compareWithGitLab>>;
export type Comparison = HoldComparison['comparison'];

/** Some 2 KB each: with more a shorter time does better than a larger machine. */
const RECORDS_MAX = 200_000;
const ASKED_MAX = 5_000;
const READ_BATCH = 100;
const READ_TIMEOUT_MS = 15_000;
const AT_ONCE = 4;

/** @throws {Error} with the remedy when there are too many jobs, {GitLabError} and {LedgerError} as they come. */
export async function compareWithGitLab(store: LedgerStore, gitlab: GitLab, options: CompareOptions) {
  const { sinceMs, nowMs, scope } = options;
  const records = await recentRecords(store, sinceMs);
  const gitlabJobs = new Map<number, GitLabJob | undefined>();
  // Lists first, because one call covers many jobs; then one call per missing job.
  const runners = await listJobs(gitlabJobs, gitlab, options);
  const missing = [...records.values()].filter(({ jobId }) => !gitlabJobs.has(jobId));
  const askable = missing.filter(({ facts }) => facts.projectId !== undefined).slice(0, ASKED_MAX);
  await atOnce(askable, AT_ONCE, async ({ jobId, facts: { projectId = 0 } }) => {
    gitlabJobs.set(jobId, await counted(() => gitlab.job(projectId, jobId), options));
  });
  // Jobs that only GitLab has may be older or new: bypassed only without a record.
  const others = [...gitlabJobs.keys()].filter((jobId) => !records.has(jobId));
  for (let from = 0; from < others.length; from += READ_BATCH) {
    const batch = others.slice(from, from + READ_BATCH);
    const found = await store.readRecords(batch, { timeoutMs: READ_TIMEOUT_MS });
    for (const record of found) if (record !== undefined) records.set(record.jobId, record);
  }
  const jobs = [...gitlabJobs].map(([jobId, gitlabJob]) => ({ record: records.get(jobId), gitlabJob }));
  const { figures, findings, actions } = enforcementProof(jobs, nowMs, scope);
  const comparison = {
    ...{ sinceMs, figures, runners, unasked: missing.length - askable.length },
    findings: [...findings].sort((a, b) => a.kind.localeCompare(b.kind, 'en') || a.jobId - b.jobId),
    // Of the jobs that ran; only where the runners' jobs could be listed in full.
    ...(runners === 'all' && { unadmittedShare: unadmittedShare(figures) }),
  };
  return { comparison, actions };
}

async function recentRecords(store: LedgerStore, sinceMs: number): Promise<Map<number, JobRecord>> {
  const records = new Map<number, JobRecord>();
  for await (const item of store.scan()) {
    if (item.kind !== 'record') continue;
    const { record } = item;
    const lastMs = Math.max(record.decidedAtMs, record.endedAtMs ?? 0);
    if (lastMs < sinceMs && !isLive(record)) continue;
    if (records.size >= RECORDS_MAX)
      throw new Error(`more than ${RECORDS_MAX} jobs since then: compare a shorter time with --since`);
    const { asked: _asked, ...facts } = record.facts;
    records.set(record.jobId, { ...record, facts });
  }
  return records;
}

type Calls = Pick<CompareOptions, 'sleep' | 'onCall'>;

/** @returns `refused` if the token may not list runners. */
async function listJobs(
  gitlabJobs: Map<number, GitLabJob | undefined>,
  gitlab: GitLab,
  { sinceMs, ...calls }: CompareOptions,
): Promise<'all' | 'refused'> {
  const runnerIds: number[] = [];
  try {
    for await (const page of pagesOf(gitlab.runners, calls)) runnerIds.push(...page.runnerIds);
  } catch (error) {
    if (error instanceof GitLabError && error.code === 'gitlab_refused') return 'refused';
    throw error;
  }
  await atOnce(runnerIds, AT_ONCE, async (runnerId) => {
    for await (const { jobs } of pagesOf((from) => gitlab.listJobs(`runners/${runnerId}`, from), calls)) {
      for (const gitlabJob of jobs)
        if (lastHeardMs(gitlabJob) >= sinceMs) gitlabJobs.set(gitlabJob.jobId, gitlabJob);
      const oldest = jobs.at(-1);
      // Newest first by id, so the first old page is the last one needed.
      if (oldest !== undefined && createdMs(oldest) < sinceMs) return;
    }
  });
  return 'all';
}

export async function* pagesOf<Page extends { readonly next?: string }>(
  read: (from: { readonly page?: string }) => Promise<Page>,
  options: Calls,
): AsyncGenerator<Page> {
  let page: string | undefined;
  do {
    const from = page === undefined ? {} : { page };
    const answer = await counted(() => read(from), options);
    yield answer;
    page = answer.next;
  } while (page !== undefined);
}

const createdMs = ({ createdAtMs, startedAtMs }: GitLabJob): number =>
  createdAtMs ?? startedAtMs ?? Number.POSITIVE_INFINITY;

const lastHeardMs = ({ finishedAtMs, startedAtMs, createdAtMs }: GitLabJob): number =>
  finishedAtMs ?? startedAtMs ?? createdAtMs ?? Number.POSITIVE_INFINITY;

export const counted = <Answer>(call: () => Promise<Answer>, { sleep, onCall }: Calls): Promise<Answer> =>
  retryWhenLimited(() => {
    onCall();
    return call();
  }, sleep);
