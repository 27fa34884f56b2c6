import type { AdminAnswer } from '../../../functions/core/gitlab/admin-calls.ts';
import {
  type AdminController,
  createGitLabAdministration,
} from '../../../functions/core/gitlab/administration.ts';
import { type ControllerState, readControllerScopes } from '../../../functions/core/gitlab/controller.ts';
import { GitLabError } from '../../../functions/core/gitlab/gitlab.ts';
import type { RestCallDeps } from '../../../functions/core/gitlab/rest-call.ts';

/** One of GitLab's runner controllers; `connected` is undefined in lists and before 18.10. */
export type RunnerController = AdminController;
export type RunnerControllers = ReturnType<typeof createRunnerControllers>;

/** Needs an administrator's token, `api` for changes. @throws {GitLabError} `gitlab_unreadable` also where there is none of this number */
export function createRunnerControllers(deps: RestCallDeps) {
  const admin = createGitLabAdministration(deps);
  return {
    list: async () => orFailure(await admin.controllers()),
    get: async (id: number) => orFailure(await admin.controller(id)),
    version: async (): Promise<string | undefined> => {
      const metadata = await admin.metadata();
      return metadata.ok ? metadata.value.version : undefined;
    },
    scopes: (id: number) => readControllerScopes(id, deps),
    /** It may or may not have changed where this throws. */
    set: async (id: number, state: ControllerState): Promise<RunnerController> => {
      const changed = orFailure(await admin.setState(id, state));
      if (changed.state === state) return changed;
      throw new GitLabError('gitlab_unreadable', `GitLab took the change, and it is still ${changed.state}`);
    },
  };
}

function orFailure<T>(answer: AdminAnswer<T>): T {
  if (answer.ok) return answer.value;
  const { code, says, remedy } = answer.refusal;
  const isRefused = code === 'unauthorised' || code === 'forbidden';
  const failure = code === 'unavailable' ? 'gitlab_unavailable' : 'gitlab_unreadable';
  throw new GitLabError(isRefused ? 'gitlab_refused' : failure, `${says}; ${remedy}`);
}
