/** Projects, their pipelines and jobs, and the runner that takes them: what a proof at a real GitLab is made of. */
import { z } from 'zod';
import { type AdminAnswer, AdminCalls, refusalOf, refusalOfFailure } from './admin-calls.ts';
import { GitLabError } from './gitlab.ts';
import { checkBaseUrl, parsedJson, type RestCallDeps, readToken, sendOnce } from './rest-call.ts';

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
const messageSchema = z.object({
  data: z.object({
    project: z.object({ job: z.object({ failureMessage: z.string().nullish() }).nullish() }).nullish(),
  }),
});

export type CanaryJob = z.output<typeof pipelineJobSchema>;

export type GitLabPipelines = ReturnType<typeof createGitLabPipelines>;

const JOBS_LOOKED_AT = '100';
const MESSAGE_MS = 10_000;
const MESSAGE_QUERY =
  'query ($path: ID!, $id: JobID!) { project(fullPath: $path) { job(id: $id) { failureMessage } } }';

/**
 * Needs scope `api`, and in the project the right to start pipelines. No call throws for what GitLab answers.
 *
 * @throws {Error} for a `baseUrl` that is no HTTP address.
 */
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
    /** Pipelines started through the API that wait or run. */
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
    failureMessage: (projectPath: string, jobId: number) => askMessage(projectPath, jobId, deps),
  };
}

/** Uses GraphQL, which answers 200 also for refusals. */
async function askMessage(
  path: string,
  jobId: number,
  deps: RestCallDeps,
): Promise<AdminAnswer<string | undefined>> {
  const made = { topic: 'pipelines', call: 'POST /api/graphql', baseUrl: deps.baseUrl } as const;
  try {
    const { response, text } = await sendOnce(
      made.call,
      `${deps.baseUrl.replace(/\/+$/, '')}/api/graphql`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'private-token': await readToken(deps.token) },
        body: JSON.stringify({
          query: MESSAGE_QUERY,
          variables: { path, id: `gid://gitlab/Ci::Build/${jobId}` },
        }),
      },
      deps.timeoutMs ?? MESSAGE_MS,
      deps.fetch,
    );
    const read = response.status === 200 ? messageSchema.safeParse(parsedJson(text)) : undefined;
    if (read?.success === true)
      return { ok: true, value: read.data.data.project?.job?.failureMessage ?? undefined };
    return { ok: false, refusal: refusalOf(made, response.status) };
  } catch (error) {
    if (!(error instanceof GitLabError)) throw error;
    return { ok: false, refusal: refusalOfFailure(made, error) };
  }
}
