import { type ControllerState, controllerStateIn, readControllerState } from './controller-state.ts';
import { GitLabError } from './gitlab.ts';
import type { RestCallDeps } from './rest-call.ts';
import { restChange } from './rest-change.ts';

export type { ControllerState };

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
