import { isTerminal } from '../../../functions/core/gitlab/index.ts';
import type { LocalJob } from './job.ts';
import type { JobBook } from './job-book.ts';
import type { LocalGitLab } from './local-gitlab.ts';

/** A project whose pipelines may be started, with what its `.gitlab-ci.yml` says. */
export interface LocalCiProject {
  readonly id: number;
  /** `group/project`. */
  readonly path: string;
  /** @default 'main' */
  readonly defaultBranch?: string;
  readonly jobs: readonly LocalCiJob[];
}

interface LocalCiJob {
  readonly name: string;
  readonly stage?: string;
  readonly tags?: readonly string[];
  readonly script?: readonly string[];
  /** Only pipelines that were started over the API have it. @default false */
  readonly onlyApi?: boolean;
}

interface LocalPipeline {
  readonly id: number;
  readonly project: LocalCiProject;
  readonly ref: string;
  readonly source: 'api' | 'push';
  readonly createdAtMs: number;
  readonly jobIds: readonly number[];
}

/** What changes a job and tells the webhooks. */
export type JobLifeMoves = Pick<LocalGitLab, 'create' | 'start' | 'end'>;

/** Pipelines that somebody started; their jobs live in the book of all jobs. */
export class PipelineBook {
  readonly #book: JobBook;
  readonly #life: JobLifeMoves;
  readonly #projects: readonly LocalCiProject[];
  readonly #pipelines = new Map<number, LocalPipeline>();

  constructor(book: JobBook, life: JobLifeMoves, projects: readonly LocalCiProject[]) {
    this.#book = book;
    this.#life = life;
    this.#projects = projects;
  }

  /** By number or by path. */
  project(asked: string): LocalCiProject | undefined {
    return this.#projects.find(({ id, path }) => String(id) === asked || path === asked);
  }

  /** Undefined: no job is meant for such a pipeline, and GitLab makes none. */
  start(
    project: LocalCiProject,
    ref: string,
    source: LocalPipeline['source'],
    nowMs: number,
  ): LocalPipeline | undefined {
    const wanted = project.jobs.filter(({ onlyApi = false }) => !onlyApi || source === 'api');
    if (wanted.length === 0) return undefined;
    const id = Math.max(0, ...this.#pipelines.keys()) + 1;
    const firstId = Math.max(0, ...[...this.#book.jobs()].map((job) => job.id)) + 1;
    const jobIds = wanted.map(({ onlyApi: _, ...job }, at) => {
      const place = { projectId: project.id, projectPath: project.path, pipelineId: id, ref };
      return this.#life.create({ id: firstId + at, ...place, ...job }).id;
    });
    const pipeline = { id, project, ref, source, createdAtMs: nowMs, jobIds };
    this.#pipelines.set(id, pipeline);
    return pipeline;
  }

  find(id: number): LocalPipeline | undefined {
    return this.#pipelines.get(id);
  }

  /** Newest first. */
  of(project: LocalCiProject): readonly LocalPipeline[] {
    return [...this.#pipelines.values()].filter((each) => each.project === project).reverse();
  }

  /** Newest first, as GitLab lists them. */
  jobsOf({ jobIds }: LocalPipeline): readonly LocalJob[] {
    return jobIds.flatMap((id) => this.#book.job(id) ?? []).reverse();
  }

  statusOf(pipeline: LocalPipeline): LocalJob['status'] {
    const statuses = this.jobsOf(pipeline).map(({ status }) => status);
    const inOrder = ['running', 'pending', 'failed', 'canceled'] as const;
    return inOrder.find((status) => statuses.includes(status)) ?? 'success';
  }

  cancel(pipeline: LocalPipeline): void {
    for (const { id, status } of this.jobsOf(pipeline))
      if (!isTerminal(status)) this.#life.end(id, { status: 'canceled' });
  }
}
