import type { AdminAnswer } from '../../../functions/core/gitlab/admin-calls.ts';
import {
  type AdminController,
  createGitLabAdministration,
} from '../../../functions/core/gitlab/administration.ts';
import {
  type ControllerScopes,
  type ControllerState,
  readControllerScopes,
} from '../../../functions/core/gitlab/controller.ts';
import { GitLabError } from '../../../functions/core/gitlab/gitlab.ts';
import type { RestCallDeps } from '../../../functions/core/gitlab/rest-call.ts';

/** One of GitLab's runner controllers; `connected` is undefined in lists and before 18.10. */
export type RunnerController = AdminController;

/** GitLab's administration of runner controllers; needs an administrator's token, `api` for changes. */
export interface RunnerControllers {
  /** Without `connected`, which lists do not have. @throws {GitLabError} */
  list(): Promise<readonly RunnerController[]>;
  /** @throws {GitLabError} `gitlab_unreadable` also where there is none of this number. */
  get(id: number): Promise<RunnerController>;
  /** @throws {GitLabError} */
  scopes(id: number): Promise<ControllerScopes>;
  /** GitLab's version; undefined: it does not say. */
  version(): Promise<string | undefined>;
  /** @throws {GitLabError} It may or may not have changed. */
  set(id: number, state: ControllerState): Promise<RunnerController>;
}

export function createRunnerControllers(deps: RestCallDeps): RunnerControllers {
  const admin = createGitLabAdministration(deps);
  return {
    list: async () => orFailure(await admin.controllers()),
    get: async (id) => orFailure(await admin.controller(id)),
    version: async () => {
      const metadata = await admin.metadata();
      return metadata.ok ? metadata.value.version : undefined;
    },
    scopes: (id) => readControllerScopes(id, deps),
    async set(id, state) {
      const changed = orFailure(await admin.setState(id, state));
      if (changed.state === state) return changed;
      throw new GitLabError('gitlab_unreadable', `GitLab took the change, and it is still ${changed.state}`);
    },
  };
}

/** Arming needs a controller or an error. */
function orFailure<T>(answer: AdminAnswer<T>): T {
  if (answer.ok) return answer.value;
  const { code, says, remedy } = answer.refusal;
  const isRefused = code === 'unauthorised' || code === 'forbidden';
  throw new GitLabError(
    isRefused ? 'gitlab_refused' : code === 'unavailable' ? 'gitlab_unavailable' : 'gitlab_unreadable',
    `${says}; ${remedy}`,
  );
}
