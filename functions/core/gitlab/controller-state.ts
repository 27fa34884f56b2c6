import { isRecord } from '../../../policies/document/reading.ts';
import { GitLabError } from './gitlab.ts';
import { type RestCallDeps, restCall } from './rest-call.ts';

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
