/** Our runner controller over GitLab's REST API, with an administrator's token of scope `read_api` (`api` to change it). */
import { z } from 'zod';
import { GitLabError } from './gitlab.ts';
import { changed, type RestCallDeps, readOne } from './rest-call.ts';

/** Only an `enabled` controller can fail jobs, by a rejection or by not responding. */
const StateSchema = z.object({ state: z.enum(['enabled', 'dry_run', 'disabled']) });
export type ControllerState = z.output<typeof StateSchema>['state'];

const controllerPath = (controllerId: number): string => `/runner_controllers/${controllerId}`;

async function readController<S extends z.ZodType>(path: string, schema: S, deps: RestCallDeps) {
  const found = await readOne(path, schema, deps);
  if (found !== undefined) return found;
  const says = "GitLab has no such controller; check the controller's id, GitLab's URL and licence";
  throw new GitLabError('gitlab_unreadable', `GET ${path}: ${says}`);
}

export const readControllerState = async (controllerId: number, deps: RestCallDeps) =>
  (await readController(controllerPath(controllerId), StateSchema, deps)).state;

export type Controller = ReturnType<typeof createController>;

export const createController = (deps: RestCallDeps & { readonly controllerId: number }) => ({
  state: (): Promise<ControllerState> => readControllerState(deps.controllerId, deps),
  /** Makes it `dry_run`: GitLab goes on asking and follows no answer. @throws {GitLabError} It may or may not be. */
  async disarm(): Promise<void> {
    const disarmed = z.object({ state: z.literal('dry_run') });
    await changed('PUT', controllerPath(deps.controllerId), { state: 'dry_run' }, disarmed, deps);
  },
});

const ScopesSchema = z.object({
  instance_level_scopings: z.array(z.unknown()),
  runner_level_scopings: z
    .array(z.object({ runner_id: z.int().positive() }).catch({ runner_id: 0 }))
    .default([])
    .transform((scopings) => scopings.map((each) => each.runner_id).filter((id) => id > 0)),
});

/** Without a scope GitLab never asks the controller. `instance`: every runner, also those of groups and projects. @throws {GitLabError} */
export async function readControllerScopes(controllerId: number, deps: RestCallDeps) {
  const found = await readController(`${controllerPath(controllerId)}/scopes`, ScopesSchema, deps);
  return { instance: found.instance_level_scopings.length > 0, runnerIds: found.runner_level_scopings };
}

export type ControllerScopes = Awaited<ReturnType<typeof readControllerScopes>>;
