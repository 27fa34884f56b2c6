/** Our runner controller over GitLab's REST API, with an administrator's token of scope `read_api` (`api` to change it). */
import { z } from 'zod';
import { GitLabError } from './gitlab.ts';
import { type RestCallDeps, restCall, restChange } from './rest-call.ts';

/** Only an `enabled` controller can fail jobs, by a rejection or by not responding. */
const StateSchema = z.object({ state: z.enum(['enabled', 'dry_run', 'disabled']) });
export type ControllerState = z.output<typeof StateSchema>['state'];

/** The next look, in a minute, tries again. */
const DISARM_TIMEOUT_MS = 5_000;

const pathOf = (controllerId: number): string => `/runner_controllers/${controllerId}`;

export async function readControllerState(
  controllerId: number,
  deps: RestCallDeps,
): Promise<ControllerState> {
  const path = pathOf(controllerId);
  const { status, body } = await restCall(path, new URLSearchParams(), deps);
  return stateIn(body, `GET ${path}: GitLab answered ${status}`);
}

/** @param said - start of the message if there is no state. @throws {GitLabError} `gitlab_unreadable` */
function stateIn(body: unknown, said: string): ControllerState {
  const { data } = StateSchema.safeParse(body);
  if (data !== undefined) return data.state;
  const message = `${said} and told no state; check the controller's id, GitLab's URL and licence`;
  throw new GitLabError('gitlab_unreadable', message);
}

export type Controller = ReturnType<typeof createController>;

export const createController = (deps: RestCallDeps & { readonly controllerId: number }) => ({
  state: (): Promise<ControllerState> => readControllerState(deps.controllerId, deps),
  /** Makes it `dry_run`: GitLab goes on asking and follows no answer. @throws {GitLabError} It may or may not be. */
  async disarm(): Promise<void> {
    const path = pathOf(deps.controllerId);
    const { status, body } = await restChange('PUT', path, { state: 'dry_run' }, DISARM_TIMEOUT_MS, deps);
    const said = `PUT ${path}: GitLab answered ${status}`;
    const state = stateIn(body, said);
    if (state !== 'dry_run') throw new GitLabError('gitlab_unreadable', `${said}, and it is still ${state}`);
  },
});

const ScopesSchema = z.object({
  instance_level_scopings: z.array(z.unknown()),
  runner_level_scopings: z
    .array(z.object({ runner_id: z.int().positive() }).catch({ runner_id: 0 }))
    .default([]),
});

/**
 * Without a scope GitLab never asks the controller, in any state. `instance`: every runner, also those of groups and projects.
 *
 * @throws {GitLabError} `gitlab_unreadable` also where there is no controller of this number.
 */
export async function readControllerScopes(controllerId: number, deps: RestCallDeps) {
  const path = `${pathOf(controllerId)}/scopes`;
  const { status, body } = await restCall(path, new URLSearchParams(), deps);
  const { data } = ScopesSchema.safeParse(body);
  if (data === undefined)
    throw new GitLabError('gitlab_unreadable', `GET ${path}: GitLab answered ${status} and told no scopes`);
  const runnerIds = data.runner_level_scopings.map((each) => each.runner_id).filter((id) => id > 0);
  return { instance: data.instance_level_scopings.length > 0, runnerIds };
}

export type ControllerScopes = Awaited<ReturnType<typeof readControllerScopes>>;
