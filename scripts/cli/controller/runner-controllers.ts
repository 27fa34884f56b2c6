import {
  type ControllerScopes,
  type ControllerState,
  GitLabError,
  type RestCallDeps,
  readControllerScopes,
  restCall,
  restPut,
} from '../../../functions/core/gitlab/index.ts';
import { isRecord } from '../../../policies/document/reading.ts';

/** One of GitLab's runner controllers, as its administration tells of it. */
export interface RunnerController {
  readonly id: number;
  readonly description: string;
  readonly state: ControllerState;
  /** Whether a token of it was used within the last hour, which tells little of now; undefined: GitLab before 18.10. */
  readonly connected: boolean | undefined;
}

/** GitLab's administration of runner controllers; needs an administrator's token, `api` for changes. */
export interface RunnerControllers {
  /** Leaves out `connected`, which a listing does not tell. @throws {GitLabError} */
  list(): Promise<readonly RunnerController[]>;
  /** @throws {GitLabError} `gitlab_unreadable` also where there is none of this number. */
  get(id: number): Promise<RunnerController>;
  /** @throws {GitLabError} */
  scopes(id: number): Promise<ControllerScopes>;
  /** @throws {GitLabError} It may or may not have changed. */
  set(id: number, state: ControllerState): Promise<RunnerController>;
}

/** Nobody has more than a few. */
const PAGES_MAX = 10;
const SET_MS_MAX = 10_000;
const NO_API = "check GitLab's address, the token's user (an administrator) and the licence";

export function createRunnerControllers(deps: RestCallDeps): RunnerControllers {
  return {
    async list() {
      const found: RunnerController[] = [];
      for (let page = 1; page <= PAGES_MAX; page += 1) {
        const query = new URLSearchParams({ per_page: '100', page: String(page) });
        const { status, headers, body } = await restCall('/runner_controllers', query, deps);
        if (!Array.isArray(body)) throw unreadable(`GET /runner_controllers: GitLab answered ${status}`);
        found.push(...body.map((each) => controllerIn(each, 'GET /runner_controllers')));
        if (!headers.get('x-next-page')) break;
      }
      return found;
    },
    async get(id) {
      const path = `/runner_controllers/${id}`;
      const { status, body } = await restCall(path, new URLSearchParams(), deps);
      return controllerIn(body, `GET ${path}: GitLab answered ${status}`);
    },
    scopes: (id) => readControllerScopes(id, deps),
    async set(id, state) {
      const path = `/runner_controllers/${id}`;
      const { status, body } = await restPut(path, { state }, SET_MS_MAX, deps);
      const said = `PUT ${path}: GitLab answered ${status}`;
      const changed = controllerIn(body, said);
      if (changed.state !== state) throw unreadable(`${said}, and it is still ${changed.state}`);
      return changed;
    },
  };
}

function controllerIn(body: unknown, said: string): RunnerController {
  const { id, description, state, connected } = isRecord(body) ? body : {};
  if (typeof id !== 'number' || (state !== 'enabled' && state !== 'dry_run' && state !== 'disabled'))
    throw unreadable(said);
  return {
    id,
    state,
    description: typeof description === 'string' ? description : '',
    connected: typeof connected === 'boolean' ? connected : undefined,
  };
}

const unreadable = (said: string): GitLabError =>
  new GitLabError('gitlab_unreadable', `${said} and told of no runner controller; ${NO_API}`);
