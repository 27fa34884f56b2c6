import { isRecord } from '../../../policies/document/reading.ts';
import { GitLabError } from './gitlab.ts';
import { type RestCallDeps, restCall, restChange } from './rest-call.ts';

/** Only an `enabled` controller can fail jobs, by a rejection or by not responding. */
export type ControllerState = 'enabled' | 'dry_run' | 'disabled';

/** `GET /runner_controllers/:id`, with an administrator's token of scope `read_api`. @throws {GitLabError} */
export async function readControllerState(
  controllerId: number,
  deps: RestCallDeps,
): Promise<ControllerState> {
  const path = `/runner_controllers/${controllerId}`;
  const { status, body } = await restCall(path, new URLSearchParams(), deps);
  return controllerStateIn(body, `GET ${path}: GitLab answered ${status}`);
}

/** @param said - start of the message if there is no state. @throws {GitLabError} `gitlab_unreadable` */
export function controllerStateIn(body: unknown, said: string): ControllerState {
  const state = isRecord(body) ? body.state : undefined;
  if (state === 'enabled' || state === 'dry_run' || state === 'disabled') return state;
  throw new GitLabError(
    'gitlab_unreadable',
    `${said} and told no state; check the controller's id, GitLab's URL and licence`,
  );
}

/** Our runner controller, as GitLab's administration sees it. */
export interface Controller {
  /** @throws {GitLabError} */
  state(): Promise<ControllerState>;
  /** Makes it `dry_run`: GitLab goes on asking and follows no answer. @throws {GitLabError} It may or may not be. */
  disarm(): Promise<void>;
}

type ControllerDeps = RestCallDeps & { readonly controllerId: number };

/** The next look, in a minute, tries again. */
const DISARM_TIMEOUT_MS = 5_000;

/** Over GitLab's REST API, with an administrator's token: `GET` and `PUT /runner_controllers/:id`. */
export function createController(deps: ControllerDeps): Controller {
  const path = `/runner_controllers/${deps.controllerId}`;
  return {
    state: () => readControllerState(deps.controllerId, deps),
    async disarm() {
      const { status, body } = await restChange('PUT', path, { state: 'dry_run' }, DISARM_TIMEOUT_MS, deps);
      const said = `PUT ${path}: GitLab answered ${status}`;
      const state = controllerStateIn(body, said);
      if (state !== 'dry_run')
        throw new GitLabError('gitlab_unreadable', `${said}, and it is still ${state}`);
    },
  };
}

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
