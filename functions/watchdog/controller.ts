import { isRecord } from '../../policies/document/reading.ts';
import { GitLabError } from '../gitlab/gitlab.ts';
import { type RestCallDeps, restCall } from '../gitlab/rest-call.ts';

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
      const { status, text } = await put(path, { state: 'dry_run' }, deps);
      const said = `PUT ${path}: GitLab answered ${status}`;
      if (status === 401 || status === 403) {
        throw new GitLabError(
          'gitlab_refused',
          `${said}; the token needs the scope api and an administrator`,
        );
      }
      if (status === 429) throw new GitLabError('gitlab_rate_limited', said);
      if (status >= 500 || status === 408) throw new GitLabError('gitlab_unavailable', said);
      const state = stateOf(status === 200 ? parsed(text) : undefined, said);
      if (state !== 'dry_run')
        throw new GitLabError('gitlab_unreadable', `${said}, and it is still ${state}`);
    },
  };
}

async function put(
  path: string,
  body: object,
  { baseUrl, token, fetch, timeout = AbortSignal.timeout }: ControllerDeps,
): Promise<{ status: number; text: string }> {
  const headers = { 'content-type': 'application/json', 'private-token': await token() };
  // A redirect would carry the token to whoever it names.
  const init = { method: 'PUT', headers, body: JSON.stringify(body), redirect: 'manual' } as const;
  try {
    const signal = timeout(DISARM_TIMEOUT_MS);
    const response = await fetch(`${baseUrl.replace(/\/+$/, '')}/api/v4${path}`, { ...init, signal });
    return { status: response.status, text: await response.text() };
  } catch (cause) {
    throw new GitLabError(
      'gitlab_unavailable',
      `PUT ${path}: GitLab is out of reach or silent for ${DISARM_TIMEOUT_MS} ms`,
      { cause },
    );
  }
}

function stateOf(body: unknown, said: string): ControllerState {
  const state = isRecord(body) ? body.state : undefined;
  if (state === 'enabled' || state === 'dry_run' || state === 'disabled') return state;
  throw new GitLabError(
    'gitlab_unreadable',
    `${said} and told no state; check the controller's id, GitLab's URL and licence`,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
