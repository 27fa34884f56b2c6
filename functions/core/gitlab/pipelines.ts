import { z } from 'zod';
import { type AdminAnswer, AdminCalls } from './admin-calls.ts';
import { checkBaseUrl, GRAPHQL, type RestCallDeps } from './rest-call.ts';

const id = z.int().positive();
const projectSchema = z.object({
  id,
  path_with_namespace: z.string(),
  default_branch: z.string().nullish(),
});
const runnerDetailSchema = z.object({
  id,
  runner_type: z.string(),
  paused: z.boolean().optional(),
  online: z.boolean().nullish(),
  tag_list: z.array(z.string()),
  run_untagged: z.boolean(),
});
const pipelineSchema = z.object({ id, source: z.string().nullish(), web_url: z.string().optional() });
const pipelineJobSchema = z.object({
  id,
  name: z.string(),
  status: z.string(),
  failure_reason: z.string().optional(),
  tag_list: z.array(z.string()).default([]),
  web_url: z.string().optional(),
});
const messageSchema = z
  .object({
    data: z.object({
      project: z.object({ job: z.object({ failureMessage: z.string().nullish() }).nullish() }).nullish(),
    }),
  })
  .transform(({ data }) => data.project?.job?.failureMessage ?? undefined);

export type CanaryJob = z.output<typeof pipelineJobSchema>;

export type GitLabPipelines = ReturnType<typeof createGitLabPipelines>;

const JOBS_LOOKED_AT = '100';
const MESSAGE_QUERY =
  'query ($path: ID!, $id: JobID!) { project(fullPath: $path) { job(id: $id) { failureMessage } } }';

/** Needs scope `api` and the right to start pipelines. No call throws for what GitLab answers. @throws {Error} for a bad `baseUrl` */
export function createGitLabPipelines(deps: RestCallDeps) {
  checkBaseUrl(deps.baseUrl);
  const calls = new AdminCalls(deps);
  const pipelines = (projectId: number): string => `/projects/${projectId}/pipelines`;
  const newest = (query: Readonly<Record<string, string>>) =>
    new URLSearchParams({ ...query, order_by: 'id', sort: 'desc', per_page: JOBS_LOOKED_AT });

  return {
    project: (asked: string) => calls.read('other', projectSchema, `/projects/${encodeURIComponent(asked)}`),
    runner: (runnerId: number) => calls.read('other', runnerDetailSchema, `/runners/${runnerId}`),
    /** Its source is `api`. It may have been started where the answer was lost. */
    start: (projectId: number, ref: string) =>
      calls.change('pipelines', pipelineSchema, 'POST', `/projects/${projectId}/pipeline`, { ref }),
    async unfinished(projectId: number): Promise<AdminAnswer<readonly number[]>> {
      const found: number[] = [];
      for (const status of ['created', 'pending', 'running']) {
        const query = newest({ source: 'api', status });
        const some = await calls.read('pipelines', pipelineSchema.array(), pipelines(projectId), query);
        if (!some.ok) return some;
        found.push(...some.value.map((pipeline) => pipeline.id));
      }
      return { ok: true, value: found };
    },
    jobs: (projectId: number, pipelineId: number) =>
      calls.read(
        'pipelines',
        pipelineJobSchema.array(),
        `${pipelines(projectId)}/${pipelineId}/jobs`,
        new URLSearchParams({ per_page: JOBS_LOOKED_AT }),
      ),
    cancel: (projectId: number, pipelineId: number) =>
      calls.change('pipelines', z.unknown(), 'POST', `${pipelines(projectId)}/${pipelineId}/cancel`),
    /** GitLab's failure message of a job, including a controller's reason; REST does not return it. */
    failureMessage: (path: string, jobId: number) =>
      calls.change('pipelines', messageSchema, 'POST', GRAPHQL, {
        query: MESSAGE_QUERY,
        variables: { path, id: `gid://gitlab/Ci::Build/${jobId}` },
      }),
  };
}
