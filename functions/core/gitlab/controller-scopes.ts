import { isRecord } from '../../../policies/document/reading.ts';
import { GitLabError } from './gitlab.ts';
import { type RestCallDeps, restCall } from './rest-call.ts';

/** The scopes of a runner controller. Without a scope GitLab never asks it, in any state. */
export interface ControllerScopes {
  /** Every runner whose jobs the router hands out, also those of groups and projects. */
  readonly instance: boolean;
  /** Single runners, by id: only runners of the instance can be scoped. Empty on a GitLab that knows no such scopes. */
  readonly runnerIds: readonly number[];
}

/**
 * `GET /runner_controllers/:id/scopes`, with an administrator's token of scope `read_api`.
 *
 * @throws {GitLabError} `gitlab_unreadable` also where there is no controller of this number.
 */
export async function readControllerScopes(
  controllerId: number,
  deps: RestCallDeps,
): Promise<ControllerScopes> {
  const path = `/runner_controllers/${controllerId}/scopes`;
  const { status, body } = await restCall(path, new URLSearchParams(), deps);
  const { instance_level_scopings: whole, runner_level_scopings: single = [] } = isRecord(body) ? body : {};
  if (!Array.isArray(whole) || !Array.isArray(single))
    throw new GitLabError('gitlab_unreadable', `GET ${path}: GitLab answered ${status} and told no scopes`);
  const runnerIds = single.flatMap((each) => runnerIdOf(each) ?? []);
  return { instance: whole.length > 0, runnerIds };
}

function runnerIdOf(scoping: unknown): number | undefined {
  const id = isRecord(scoping) ? scoping.runner_id : undefined;
  return typeof id === 'number' && Number.isSafeInteger(id) && id > 0 ? id : undefined;
}
