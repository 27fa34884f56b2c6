/** Public exports of this folder; its README lists its promises. */

export type { AdminAnswer, AdminRefusal } from './admin-calls.ts';
export {
  type AdminController,
  CANARY_DESCRIPTION,
  type ControllerToken,
  createGitLabAdministration,
  type GitLabAdministration,
  type GroupHook,
} from './administration.ts';
export {
  type Controller,
  type ControllerScopes,
  type ControllerState,
  createController,
  readControllerScopes,
  readControllerState,
} from './controller.ts';
export type { FleetRunner, GitLabGroup, GitLabProject, RunnerManager } from './gitlab.ts';
export {
  GitLabError,
  type GitLabErrorCode,
  isTerminal,
  JOB_STATUSES,
  type JobList,
  type JobStatus,
  type JobsPage,
  type JobTruth,
  REJECTED_BY_ROUTER,
  type RunnersPage,
} from './gitlab.ts';
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
export { JOB_HOOK_EVENT, parseJobHook } from './job-reader.ts';
export { keepNote, type OwnNote } from './keep-note.ts';
export {
  type RunnerDetail,
  type RunnerDetails,
  runnerDetails,
  type UserNames,
  userNames,
} from './kept-answers.ts';
export {
  type CanaryJob,
  type CanaryProject,
  type CanaryRunner,
  createGitLabPipelines,
  type GitLabPipelines,
} from './pipelines.ts';
export {
  checkBaseUrl,
  pageEnd,
  pageQuery,
  patiently,
  type RestCallDeps,
  readFound,
  readList,
  restCall,
  restChange,
} from './rest-call.ts';
export type { GitLabDirectory } from './rest-gitlab.ts';
export {
  createGitLab,
  createGitLabDirectory,
  type GitLab,
  parseRestJob,
  type RetryOutcome,
  retryJob,
} from './rest-gitlab.ts';
export type { FleetGitLab } from './runners.ts';
export {
  byVersion,
  createFleet,
  createFleetReader,
  type FinishedJobsPage,
  fallsBack,
  finishedJobs,
  type JobsMark,
  type RouterAccess,
  routerAccess,
} from './runners.ts';
