import { isRecord } from '../../policies/document/reading.ts';
import { GitLabError } from '../gitlab/gitlab.ts';
import { type RestCallDeps, restCall } from '../gitlab/rest-call.ts';
import { restPut } from '../gitlab/rest-put.ts';

/** Only an `enabled` controller fails jobs when nobody answers for it. */
export type ControllerState = 'enabled' | 'dry_run' | 'disabled';

/** Our runner controller, as GitLab's administration sees it. */
export interface Controller {
  /** @throws {GitLabError} */
  state(): Promise<ControllerState>;
  /** Makes it `dry_run`: GitLab goes on asking and follows no answer. @throws {GitLabError} It may or may not be. */
  disarm(): Promise<void>;
}

export type ControllerDeps = RestCallDeps & { readonly controllerId: number };

/** The next look, in a minute, tries again. */
const DISARM_TIMEOUT_MS = 5_000;

/** Over GitLab's REST API, with an administrator's token: `GET` and `PUT /runner_controllers/:id`. */
export function createController(deps: ControllerDeps): Controller {
  const path = `/runner_controllers/${deps.controllerId}`;
  return {
    async state() {
      const { status, body } = await restCall(path, new URLSearchParams(), deps);
      return stateOf(body, `GET ${path}: GitLab answered ${status}`);
    },
    async disarm() {
      const { status, body } = await restPut(path, { state: 'dry_run' }, DISARM_TIMEOUT_MS, deps);
      const said = `PUT ${path}: GitLab answered ${status}`;
      const state = stateOf(body, said);
      if (state !== 'dry_run')
        throw new GitLabError('gitlab_unreadable', `${said}, and it is still ${state}`);
    },
  };
}

function stateOf(body: unknown, said: string): ControllerState {
  const state = isRecord(body) ? body.state : undefined;
  if (state === 'enabled' || state === 'dry_run' || state === 'disabled') return state;
  throw new GitLabError(
    'gitlab_unreadable',
    `${said} and told no state; check the controller's id, GitLab's URL and licence`,
  );
}
