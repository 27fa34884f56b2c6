import type { GitLabJob, JobList, JobsPage } from '../../../functions/core/gitlab/gitlab.ts';
import type { GitLab } from '../../../functions/core/gitlab/rest-gitlab.ts';

const PAGE = 100;

export type Call = 'job' | 'running' | 'recent' | 'runners';

/** GitLab's REST API over a map of jobs, a hundred a page, newest first. */
export class FakeGitLab implements GitLab {
  readonly jobs = new Map<number, GitLabJob>();
  readonly calls: Record<Call, number> = { job: 0, running: 0, recent: 0, runners: 0 };
  /** Thrown instead of an answer. */
  fail: (call: Call, id: number) => Error | undefined = () => undefined;
  /** Awaited before and after GitLab looks, so that things happen in between. */
  step: (label: string) => Promise<unknown> = async () => {};

  put(...gitlabJobs: readonly GitLabJob[]): void {
    for (const gitlabJob of gitlabJobs) this.jobs.set(gitlabJob.jobId, gitlabJob);
  }

  get total(): number {
    return Object.values(this.calls).reduce((sum, count) => sum + count, 0);
  }

  async job(projectId: number, jobId: number): Promise<GitLabJob | undefined> {
    await this.#count('job', jobId);
    const gitlabJob = this.jobs.get(jobId);
    await this.step('answered');
    return gitlabJob?.projectId === projectId ? gitlabJob : undefined;
  }

  async listJobs(
    list: JobList,
    { status, page }: { readonly status?: 'running'; readonly page?: string | undefined },
  ): Promise<JobsPage> {
    const [kind, id] = list.split('/');
    await this.#count(status === undefined ? 'recent' : 'running', Number(id));
    const below = page === undefined ? Number.POSITIVE_INFINITY : Number(page);
    const matching = [...this.jobs.values()]
      .filter((gitlabJob) => (kind === 'runners' ? gitlabJob.runnerId : gitlabJob.projectId) === Number(id))
      .filter(({ jobId }) => jobId < below)
      .filter((gitlabJob) => status === undefined || gitlabJob.status === status)
      .sort((a, b) => b.jobId - a.jobId);
    const jobs = matching.slice(0, PAGE);
    await this.step('answered');
    return matching.length > PAGE ? { jobs, next: String(jobs.at(-1)?.jobId) } : { jobs };
  }

  async runners() {
    await this.#count('runners', 0);
    const runnerIds = [...this.jobs.values()].flatMap(({ runnerId }) => runnerId ?? []);
    return { runnerIds: [...new Set(runnerIds)] };
  }

  async #count(call: Call, id: number): Promise<void> {
    this.calls[call] += 1;
    await this.step(call);
    const error = this.fail(call, id);
    if (error !== undefined) throw error;
  }
}
