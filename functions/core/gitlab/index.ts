/** What others may use of this folder; its README says what it promises. */

export { CANARY_DESCRIPTION } from './admin/admin-model.ts';
export type { AdminAnswer, AdminRefusal } from './admin/admin-refusal.ts';
export {
  type AdminController,
  type ControllerToken,
  createGitLabAdministration,
  type GitLabAdministration,
  type GroupHook,
} from './admin/gitlab-admin.ts';
export {
  type CanaryJob,
  type CanaryProject,
  type CanaryRunner,
  createGitLabPipelines,
  type GitLabPipelines,
} from './admin/gitlab-pipelines.ts';
export { type Controller, createController } from './controller.ts';
export { type ControllerScopes, readControllerScopes } from './controller-scopes.ts';
export { type ControllerState, readControllerState } from './controller-state.ts';
export { type FinishedJobsPage, finishedJobs, type JobsMark } from './fleet/finished-jobs.ts';
export type { FleetGitLab, FleetRunner, RunnerManager } from './fleet/fleet.ts';
export { createFleet, createFleetReader } from './fleet/rest-fleet.ts';
export { byVersion, fallsBack, type RouterAccess, routerAccess } from './fleet/router-access.ts';
export { type RunnerDetail, type RunnerDetails, runnerDetails } from './fleet/runner-details.ts';
export { type GitLab, GitLabError, type GitLabErrorCode, type JobsPage, type RunnersPage } from './gitlab.ts';
export type { GitLabDirectory, GitLabGroup, GitLabProject } from './gitlab-directory.ts';
export { deployedFetch, gitlabFetch } from './gitlab-fetch.ts';
export {
  createGroupHook,
  groupHookKey,
  groupHookUrl,
  type HookSetting,
  hasGroupHook,
  hookDescription,
  hookSetting,
  isHookUrl,
  secretMark,
} from './group-hooks.ts';
export { JOB_HOOK_EVENT, parseJobHook } from './job-hook.ts';
export { isTerminal, JOB_STATUSES, type JobStatus, type JobTruth, REJECTED_BY_ROUTER } from './job-truth.ts';
export { keepNote, type OwnNote } from './keep-note.ts';
export { patiently } from './patiently.ts';
export { checkBaseUrl, pageEnd, readFound, readList } from './rest-answers.ts';
export { type RestCallDeps, restCall } from './rest-call.ts';
export { restChange } from './rest-change.ts';
export { createGitLabDirectory } from './rest-directory.ts';
export { createGitLab, parseRestJob } from './rest-gitlab.ts';
export { pageQuery } from './rest-pages.ts';
export { type RetryOutcome, retryJob } from './retry-job.ts';
export { type UserNames, userNames } from './user-names.ts';
