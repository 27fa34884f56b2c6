/** Our runner controller over GitLab's REST API, with an administrator's token of scope `read_api` (`api` to change it). */
import { z } from 'zod';
import { GitLabError } from './gitlab.ts';
import { type RestCallDeps, readOne, restOnce } from './rest-call.ts';

/** Only an `enabled` controller can fail jobs, by a rejection or by not responding. */
const StateSchema = z.object({ state: z.enum(['enabled', 'dry_run', 'disabled']) });
export type ControllerState = z.output<typeof StateSchema>['state'];

const DISARM_TIMEOUT_MS = 5_000;

const pathOf = (controllerId: number): string => `/runner_controllers/${controllerId}`;

const absent = (path: string): GitLabError =>
  new GitLabError(
    'gitlab_unreadable',
    `${path}: GitLab has no such controller; check the controller's id, GitLab's URL and licence`,
  );

export async function readControllerState(
  controllerId: number,
  deps: RestCallDeps,
): Promise<ControllerState> {
  const path = pathOf(controllerId);
  const found = await readOne(path, StateSchema, deps);
  if (found === undefined) throw absent(`GET ${path}`);
  return found.state;
}

export type Controller = ReturnType<typeof createController>;

export const createController = (deps: RestCallDeps & { readonly controllerId: number }) => ({
  state: (): Promise<ControllerState> => readControllerState(deps.controllerId, deps),
  /** Makes it `dry_run`: GitLab goes on asking and follows no answer. @throws {GitLabError} It may or may not be. */
  async disarm(): Promise<void> {
    const path = pathOf(deps.controllerId);
    const { status, body } = await restOnce('PUT', path, { state: 'dry_run' }, DISARM_TIMEOUT_MS, deps);
    const state = StateSchema.safeParse(body).data?.state ?? 'in no known state';
    if (state === 'dry_run') return;
    const message = `PUT ${path}: GitLab answered ${status}, and the controller is ${state}; check its id, GitLab's URL and licence`;
    throw new GitLabError('gitlab_unreadable', message);
  },
});

const ScopesSchema = z.object({
  instance_level_scopings: z.array(z.unknown()),
  runner_level_scopings: z
    .array(z.object({ runner_id: z.int().positive() }).catch({ runner_id: 0 }))
    .default([]),
});

/** Without a scope GitLab never asks the controller. `instance`: every runner, also those of groups and projects. @throws {GitLabError} */
export async function readControllerScopes(controllerId: number, deps: RestCallDeps) {
  const path = `${pathOf(controllerId)}/scopes`;
  const found = await readOne(path, ScopesSchema, deps);
  if (found === undefined) throw absent(`GET ${path}`);
  const runnerIds = found.runner_level_scopings.map((each) => each.runner_id).filter((id) => id > 0);
  return { instance: found.instance_level_scopings.length > 0, runnerIds };
}

export type ControllerScopes = Awaited<ReturnType<typeof readControllerScopes>>;
