import type { WallClock } from '../clock/clock.ts';
import type { RouterGitLab } from '../router/router-gitlab.ts';
import type { ControllerTokenBook } from './controller-admin-routes.ts';
import type { ControllerBook } from './controller-routes.ts';
import type { RunnerJobBook } from './runner-job-book.ts';

/** What this GitLab tells its job router: a controller without a scope is asked about nothing. */
export function routerSide(
  controllers: ControllerBook,
  tokens: ControllerTokenBook,
  jobs: RunnerJobBook,
  clock: WallClock,
): RouterGitLab {
  return {
    controllers: () =>
      controllers.all().map(({ id, state, instanceScope = false, runnerScopes = [] }) => ({
        ...{ id, state, tokens: tokens.of(id).map(({ value }) => value) },
        ...(!instanceScope && { runnerIds: runnerScopes }),
      })),
    tokenUsed: (token) => tokens.use(token, clock.nowMs()),
    requestJob: (runnerToken) => jobs.request(runnerToken),
    failJob: (jobId, message) => jobs.fail(jobId, message),
  };
}
