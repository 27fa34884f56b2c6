import { z } from 'zod';
import { type AdminAnswer, adminCalls } from './admin-calls.ts';
import { HOOK_EVENTS, type HookSetting } from './group-hooks.ts';
import { checkBaseUrl, GRAPHQL, type RestCallDeps } from './rest-call.ts';

const id = z.int().positive();
const text = z
  .string()
  .nullish()
  .transform((said) => said ?? '');
const accessTokenSchema = z.object({
  scopes: z.array(z.string()),
  active: z.boolean(),
  /** The day at whose beginning, in UTC, it dies. */
  expires_at: z.string().nullish(),
});

const metadataSchema = z.object({
  version: z.string().regex(/^\d+\.\d+/),
  /** The code, which says nothing of a licence. */
  enterprise: z.boolean().optional(),
  kas: z
    .object({
      enabled: z.boolean(),
      externalUrl: z.string().nullish(),
      /** Null also where GitLab cannot reach it. */
      version: z.string().nullish(),
    })
    .optional(),
});

const licenceSchema = z
  .object({ plan: z.string(), expired: z.boolean().optional(), expires_at: z.string().nullish() })
  .nullish();

const flagsSchema = z.array(z.object({ name: z.string(), state: z.enum(['on', 'off', 'conditional']) }));

const flagDefinitionsSchema = z.array(
  z.object({ name: z.string(), default_enabled: z.boolean().optional() }),
);

export const CANARY_DESCRIPTION = 'Tollgate canary: made and removed by tollgate gitlab canary';

const controllerSchema = z.object({
  id,
  description: text,
  state: z.enum(['enabled', 'dry_run', 'disabled']),
  /** True if one of its tokens was used within the last hour. Absent in lists, and before 18.10. */
  connected: z.boolean().optional(),
});

const scopesSchema = z.object({
  instance_level_scopings: z.array(z.unknown()),
  runner_level_scopings: z.array(z.object({ runner_id: id })).optional(),
});

const instantMs = z.string().transform((said) => Date.parse(said));

const controllerTokenSchema = z
  .object({
    id,
    description: text,
    last_used_at: instantMs.nullable().optional(),
    created_at: instantMs,
  })
  .transform((token) => ({
    id: token.id,
    description: token.description,
    lastUsedAtMs: token.last_used_at,
    createdAtMs: token.created_at,
  }));

const madeTokenSchema = z.object({
  id,
  /** An instance may have a prefix of its own before GitLab's. */
  token: z.string().regex(/glrct-/),
});

const groupSchema = z.object({ id, full_path: z.string(), parent_id: z.int().nullish() });

const hookSchema = z.object({
  id,
  url: z.string(),
  name: text,
  description: text,
  push_events: z.boolean(),
  job_events: z.boolean(),
  enable_ssl_verification: z.boolean(),
  alert_status: z.string().optional(),
  custom_webhook_template: text,
  signing_token_present: z.boolean().optional(),
});

const hookEventSchema = z.object({
  id,
  response_status: z.coerce.string(),
});

const runnerSchema = z.object({ id });

const projectSchema = z.object({
  id,
  path_with_namespace: z.string(),
  default_branch: z.string().nullish(),
});
const runnerDetailSchema = z.object({
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

export type AdminController = z.output<typeof controllerSchema>;
/** Last use: null before the first, undefined where GitLab (before 18.10) does not say. */
export type ControllerToken = z.output<typeof controllerTokenSchema>;
export type CanaryJob = z.output<typeof pipelineJobSchema>;
export type GroupHook = z.output<typeof hookSchema>;
export type GitLabAdministration = ReturnType<typeof createGitLabAdministration>;

const JOBS_LOOKED_AT = '100';
const MESSAGE_QUERY =
  'query ($path: ID!, $id: JobID!) { project(fullPath: $path) { job(id: $id) { failureMessage } } }';

/** As an administrator's token sees it. No call throws for what GitLab answers. @throws {Error} if `baseUrl` is no plain address */
export function createGitLabAdministration(deps: RestCallDeps) {
  checkBaseUrl(deps.baseUrl);
  const calls = adminCalls(deps);
  const controller = (id: number): string => `/runner_controllers/${id}`;
  const pipelines = (projectId: number): string => `/projects/${projectId}/pipelines`;
  const hooks = (groupId: number): string => `/groups/${groupId}/hooks`;
  const hook = (groupId: number, hookId: number): string => `${hooks(groupId)}/${hookId}`;
  return {
    self: () => calls.read('other', accessTokenSchema, '/personal_access_tokens/self'),
    metadata: () => calls.read('other', metadataSchema, '/metadata'),
    licence: () => calls.read('other', licenceSchema, '/license'),
    flags: () => calls.read('other', flagsSchema, '/features'),
    flagDefinitions: () => calls.read('other', flagDefinitionsSchema, '/features/definitions'),

    controllers: () => calls.list('controllers', controllerSchema, '/runner_controllers'),
    controller: (id: number) => calls.read('controllers', controllerSchema, controller(id)),
    createController: (description: string) =>
      calls.change('controllers', controllerSchema, 'POST', '/runner_controllers', {
        description,
        state: 'dry_run',
      }),
    setState: (id: number, state: AdminController['state']) =>
      calls.change('controllers', controllerSchema, 'PUT', controller(id), { state }),
    deleteController: (id: number) => calls.remove('controllers', controller(id)),
    scopes: (id: number) => calls.read('scopes', scopesSchema, `${controller(id)}/scopes`),
    addScope: (id: number, scope: number | 'instance') => {
      const path = scope === 'instance' ? scope : `runners/${scope}`;
      return calls.change('scopes', z.unknown(), 'POST', `${controller(id)}/scopes/${path}`);
    },

    tokens: (id: number) => calls.list('controllers', controllerTokenSchema, `${controller(id)}/tokens`),
    createToken: (id: number, description: string) =>
      calls.change('controllers', madeTokenSchema, 'POST', `${controller(id)}/tokens`, { description }),
    revokeToken: (id: number, tokenId: number) =>
      calls.remove('controllers', `${controller(id)}/tokens/${tokenId}`),

    topLevelGroups: async (): Promise<AdminAnswer<readonly z.output<typeof groupSchema>[]>> => {
      const input = { top_level_only: 'true', all_available: 'true', order_by: 'id', sort: 'asc' };
      const answer = await calls.list('other', groupSchema, '/groups', input);
      if (!answer.ok) return answer;
      return { ok: true, value: answer.value.filter(({ parent_id }) => parent_id == null) };
    },
    hooks: (groupId: number) => calls.list('webhooks', hookSchema, hooks(groupId)),
    createHook: (groupId: number, setting: HookSetting) =>
      calls.change('webhooks', hookSchema, 'POST', hooks(groupId), { ...setting, ...HOOK_EVENTS }),
    changeHook: (groupId: number, hookId: number, setting: HookSetting) =>
      calls.change('webhooks', hookSchema, 'PUT', hook(groupId, hookId), { ...setting, ...HOOK_EVENTS }),
    deleteHook: (groupId: number, hookId: number) => calls.remove('webhooks', hook(groupId, hookId)),
    /** Sends the newest job of the group once more; success enables a webhook that GitLab gave up. Five a minute. */
    testHook: (groupId: number, hookId: number) =>
      calls.change('deliveries', z.unknown(), 'POST', `${hook(groupId, hookId)}/test/job_events`),
    deliveries: (groupId: number, hookId: number) =>
      calls.read(
        'deliveries',
        hookEventSchema.array(),
        `${hook(groupId, hookId)}/events`,
        new URLSearchParams({ per_page: '20' }),
      ),

    instanceRunners: (tags: readonly string[]) =>
      calls.list('other', runnerSchema, '/runners/all', {
        type: 'instance_type',
        ...(tags.length > 0 && { tag_list: tags.join(',') }),
      }),
    runner: (runnerId: number) => calls.read('other', runnerDetailSchema, `/runners/${runnerId}`),

    project: (input: string) => calls.read('other', projectSchema, `/projects/${encodeURIComponent(input)}`),
    /** Its source is `api`. It may have been started where the answer was lost. */
    startPipeline: (projectId: number, ref: string) =>
      calls.change('pipelines', pipelineSchema, 'POST', `/projects/${projectId}/pipeline`, { ref }),
    async unfinishedPipelines(projectId: number): Promise<AdminAnswer<readonly number[]>> {
      const found: number[] = [];
      for (const status of ['created', 'pending', 'running']) {
        const newest = { source: 'api', status, order_by: 'id', sort: 'desc', per_page: JOBS_LOOKED_AT };
        const query = new URLSearchParams(newest);
        const some = await calls.read('pipelines', pipelineSchema.array(), pipelines(projectId), query);
        if (!some.ok) return some;
        found.push(...some.value.map((pipeline) => pipeline.id));
      }
      return { ok: true, value: found };
    },
    pipelineJobs: (projectId: number, pipelineId: number) =>
      calls.read(
        'pipelines',
        pipelineJobSchema.array(),
        `${pipelines(projectId)}/${pipelineId}/jobs`,
        new URLSearchParams({ per_page: JOBS_LOOKED_AT }),
      ),
    cancelPipeline: (projectId: number, pipelineId: number) =>
      calls.change('pipelines', z.unknown(), 'POST', `${pipelines(projectId)}/${pipelineId}/cancel`),
    /** GitLab's failure message of a job, including a controller's reason; REST does not return it. */
    failureMessage: (path: string, jobId: number) =>
      calls.change('pipelines', messageSchema, 'POST', GRAPHQL, {
        query: MESSAGE_QUERY,
        variables: { path, id: `gid://gitlab/Ci::Build/${jobId}` },
      }),
  };
}
