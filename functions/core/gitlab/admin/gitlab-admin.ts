import { z } from 'zod';
import { HOOK_EVENTS, type HookSetting } from '../group-hooks.ts';
import { checkBaseUrl } from '../rest-answers.ts';
import type { RestCallDeps } from '../rest-call.ts';
import { AdminCalls } from './admin-calls.ts';
import * as model from './admin-model.ts';
import type { AdminAnswer } from './admin-refusal.ts';

export type AdminController = z.output<typeof model.controllerSchema>;
/** Last use: null before the first, undefined where GitLab (before 18.10) does not say. */
export type ControllerToken = z.output<typeof model.controllerTokenSchema>;
export type GroupHook = z.output<typeof model.hookSchema>;

/** GitLab's administration, as an administrator's token sees it. No call throws for what GitLab answers. */
export interface GitLabAdministration {
  /** The token itself. */
  self(): Promise<AdminAnswer<z.output<typeof model.accessTokenSchema>>>;
  metadata(): Promise<AdminAnswer<z.output<typeof model.metadataSchema>>>;
  licence(): Promise<AdminAnswer<z.output<typeof model.licenceSchema>>>;
  /** Flags that were set. Others have their default. */
  flags(): Promise<AdminAnswer<z.output<typeof model.flagsSchema>>>;
  flagDefinitions(): Promise<AdminAnswer<z.output<typeof model.flagDefinitionsSchema>>>;
  /** Settings of the instance; administrators only. */
  settings(): Promise<AdminAnswer<z.output<typeof model.settingsSchema>>>;
  /** The router's address for one runner. @param runnerToken - `glrt-…` */
  discovery(runnerToken: string): Promise<AdminAnswer<{ readonly server_url: string }>>;

  /** By id. */
  controllers(): Promise<AdminAnswer<readonly AdminController[]>>;
  controller(id: number): Promise<AdminAnswer<AdminController>>;
  createController(description: string): Promise<AdminAnswer<AdminController>>;
  setState(id: number, state: AdminController['state']): Promise<AdminAnswer<AdminController>>;
  deleteController(id: number): Promise<AdminAnswer<undefined>>;
  scopes(id: number): Promise<AdminAnswer<z.output<typeof model.scopesSchema>>>;
  /** @param scope - id of an instance runner, or all runners */
  addScope(id: number, scope: number | 'instance'): Promise<AdminAnswer<unknown>>;

  /** Active ones, by id; never their values. */
  tokens(controllerId: number): Promise<AdminAnswer<readonly ControllerToken[]>>;
  /** GitLab returns the token only here. */
  createToken(
    controllerId: number,
    description: string,
  ): Promise<AdminAnswer<z.output<typeof model.madeTokenSchema>>>;
  revokeToken(controllerId: number, tokenId: number): Promise<AdminAnswer<undefined>>;

  /** By id. */
  topLevelGroups(): Promise<AdminAnswer<readonly z.output<typeof model.groupSchema>[]>>;
  hooks(groupId: number): Promise<AdminAnswer<readonly GroupHook[]>>;
  createHook(groupId: number, setting: HookSetting): Promise<AdminAnswer<GroupHook>>;
  changeHook(groupId: number, hookId: number, setting: HookSetting): Promise<AdminAnswer<GroupHook>>;
  deleteHook(groupId: number, hookId: number): Promise<AdminAnswer<undefined>>;
  /** Sends the newest job of the group once more; success enables a webhook that GitLab gave up. Five a minute. */
  testHook(groupId: number, hookId: number): Promise<AdminAnswer<unknown>>;
  /** The newest deliveries of the last seven days, the newest first. */
  deliveries(
    groupId: number,
    hookId: number,
  ): Promise<AdminAnswer<readonly z.output<typeof model.hookEventSchema>[]>>;
  /** Sends one delivery again under its old id. Five a minute, tests included. */
  resend(groupId: number, hookId: number, eventId: number): Promise<AdminAnswer<unknown>>;

  /** Runners of the instance that have all these tags. */
  instanceRunners(
    tags: readonly string[],
  ): Promise<AdminAnswer<readonly z.output<typeof model.runnerSchema>[]>>;
}

/** @throws {Error} if `baseUrl` is no plain http or https address. */
export function createGitLabAdministration(deps: RestCallDeps): GitLabAdministration {
  checkBaseUrl(deps.baseUrl);
  const calls = new AdminCalls(deps);
  const controller = (id: number): string => `/runner_controllers/${id}`;
  const hook = (groupId: number, hookId: number): string => `/groups/${groupId}/hooks/${hookId}`;
  const anything = z.unknown();
  return {
    self: () => calls.read('access token', model.accessTokenSchema, '/personal_access_tokens/self'),
    metadata: () => calls.read('metadata', model.metadataSchema, '/metadata'),
    licence: () => calls.read('licence', model.licenceSchema, '/license'),
    flags: () => calls.read('flags', model.flagsSchema, '/features'),
    flagDefinitions: () => calls.read('flags', model.flagDefinitionsSchema, '/features/definitions'),
    settings: () => calls.read('settings', model.settingsSchema, '/application/settings'),
    discovery: (runnerToken) =>
      new AdminCalls({ ...deps, token: async () => runnerToken, tokenHeader: 'runner-token' }).read(
        'router',
        model.discoverySchema,
        '/runners/router/discovery',
      ),

    controllers: async () =>
      byId(await calls.list('controllers', model.controllerSchema, '/runner_controllers')),
    controller: (id) => calls.read('controllers', model.controllerSchema, controller(id)),
    createController: (description) =>
      calls.change('controllers', model.controllerSchema, 'POST', '/runner_controllers', {
        description,
        state: 'dry_run',
      }),
    setState: (id, state) =>
      calls.change('controllers', model.controllerSchema, 'PUT', controller(id), { state }),
    deleteController: (id) => calls.remove('controllers', controller(id)),
    scopes: (id) => calls.read('scopes', model.scopesSchema, `${controller(id)}/scopes`),
    addScope: (id, scope) =>
      calls.change(
        'scopes',
        anything,
        'POST',
        `${controller(id)}/scopes/${scope === 'instance' ? scope : `runners/${scope}`}`,
      ),

    tokens: async (id) =>
      byId(await calls.list('controller tokens', model.controllerTokenSchema, `${controller(id)}/tokens`)),
    createToken: (id, description) =>
      calls.change('controller tokens', model.madeTokenSchema, 'POST', `${controller(id)}/tokens`, {
        description,
      }),
    revokeToken: (id, tokenId) => calls.remove('controller tokens', `${controller(id)}/tokens/${tokenId}`),

    topLevelGroups: async () => {
      const asked = { top_level_only: 'true', all_available: 'true', order_by: 'id', sort: 'asc' };
      const answer = byId(await calls.list('groups', model.groupSchema, '/groups', asked));
      if (!answer.ok) return answer;
      return { ok: true, value: answer.value.filter(({ parent_id }) => parent_id == null) };
    },
    hooks: async (groupId) =>
      byId(await calls.list('webhooks', model.hookSchema, `/groups/${groupId}/hooks`)),
    createHook: (groupId, setting) =>
      calls.change('webhooks', model.hookSchema, 'POST', `/groups/${groupId}/hooks`, {
        ...setting,
        ...HOOK_EVENTS,
      }),
    changeHook: (groupId, hookId, setting) =>
      calls.change('webhooks', model.hookSchema, 'PUT', hook(groupId, hookId), {
        ...setting,
        ...HOOK_EVENTS,
      }),
    deleteHook: (groupId, hookId) => calls.remove('webhooks', hook(groupId, hookId)),
    testHook: (groupId, hookId) =>
      calls.change('webhook deliveries', anything, 'POST', `${hook(groupId, hookId)}/test/job_events`),
    deliveries: (groupId, hookId) =>
      calls.read(
        'webhook deliveries',
        model.hookEventSchema.array(),
        `${hook(groupId, hookId)}/events`,
        new URLSearchParams({ per_page: '20' }),
      ),
    resend: (groupId, hookId, eventId) =>
      calls.change(
        'webhook deliveries',
        anything,
        'POST',
        `${hook(groupId, hookId)}/events/${eventId}/resend`,
      ),

    instanceRunners: async (tags) =>
      byId(
        await calls.list('runners', model.runnerSchema, '/runners/all', {
          type: 'instance_type',
          ...(tags.length > 0 && { tag_list: tags.join(',') }),
        }),
      ),
  };
}

/** GitLab orders some lists in no way at all. */
function byId<T extends { readonly id: number }>(
  answer: AdminAnswer<readonly T[]>,
): AdminAnswer<readonly T[]> {
  return answer.ok ? { ok: true, value: answer.value.toSorted((a, b) => a.id - b.id) } : answer;
}
