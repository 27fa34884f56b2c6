import type { AdmissionRequest } from '../../policies/request/request.ts';

/** Longer than any path (20 levels of groups) or image name seen. */
export const TEXT_LENGTH_MAX = 1_024;
export const LABEL_LENGTH_MAX = 255;
/** GitLab allows 50 tags per job, and any number of services. */
export const LIST_LENGTH_MAX = 100;

/** A value that is too long to read. A rule that needs it follows its `on_missing`, and no variable replaces it. */
export const UNKNOWN = Symbol('unknown');

/** Marks a text as unknown. Rules allow no image or user with a `$`. */
export const UNKNOWN_END = '$…';

export const PULL_POLICY: readonly string[] = ['pull_policy', 'pull_policies'];
export const DOCKER_USER: readonly string[] = ['executor_opts.docker.user', 'docker.user'];
export const KUBERNETES_USER: readonly string[] = ['executor_opts.kubernetes.user', 'kubernetes.user'];

export type AliasKind =
  | 'id'
  | 'seconds'
  | 'text'
  /** An image or a user of a container. Cut and marked if it is too long. */
  | 'container'
  | 'label'
  | 'boolean'
  | 'texts'
  | 'services'
  | 'digest'
  | 'bot';

interface VariableAlias {
  readonly name: string;
  /** Users can set variables, so identity is read from them only if the operator sets `trustVariables`. */
  readonly needsTrust: boolean;
  /** A value that differs from the typed field is suspicious. Some variables differ for good reasons. */
  readonly mustAgree: boolean;
}

export interface Alias {
  readonly field: Exclude<keyof AdmissionRequest, 'variables' | 'suspicious'>;
  readonly kind: AliasKind;
  /** Paths in the request, compared without underscores and case: `job_info.project_id` finds `jobInfo.projectId`. */
  readonly paths: readonly string[];
  readonly variables: readonly VariableAlias[];
}

const identity = (name: string): VariableAlias => ({ name, needsTrust: true, mustAgree: true });
const context = (name: string): VariableAlias => ({ name, needsTrust: false, mustAgree: false });
const trusted = (name: string): VariableAlias => ({ name, needsTrust: true, mustAgree: false });

/** @param paths - separated by spaces, best first. */
const alias = (
  field: Alias['field'],
  kind: AliasKind,
  paths: string,
  ...variables: readonly VariableAlias[]
): Alias => ({ field, kind, paths: paths.split(' ').filter((path) => path !== ''), variables });

/** In the part about the job, or at the top. */
const info = (name: string): string => `job_info.${name} ${name}`;

/** A number of seconds, or a `google.protobuf.Duration`. */
const timeouts = (paths: string): string => paths.replaceAll(/\S+/g, '$& $&.seconds');

const ofImage = (paths: readonly string[]): string => paths.map((path) => `image.${path}`).join(' ');

/**
 * GitLab's versions send different fields under different names. The table has those seen or expected. Typed fields come before
 * variables.
 *
 * An `id` is a whole number > 0 that GitLab writes, so another value contradicts the schema. Authors write texts, which cannot: a
 * `text` that is too long is unknown, a `label` is cut.
 */
export const ALIASES: readonly Alias[] = [
  // The `id` of the request is last, because another service may number its requests.
  alias('jobId', 'id', 'job_info.id job.id job_id id', identity('CI_JOB_ID')),
  alias('jobName', 'label', 'job_info.name job_name', context('CI_JOB_NAME')),
  alias('jobStage', 'label', 'job_info.stage job_stage', context('CI_JOB_STAGE')),
  alias('pipelineId', 'id', info('pipeline_id'), context('CI_PIPELINE_ID')),
  alias('pipelineSource', 'text', info('pipeline_source'), context('CI_PIPELINE_SOURCE')),
  alias('mergeRequestId', 'id', info('merge_request_id'), context('CI_MERGE_REQUEST_ID')),
  // GitLab sends no id of a schedule. Users write its description, so only a digest leaves the relay.
  alias('scheduleDigest', 'digest', '', context('CI_PIPELINE_SCHEDULE_DESCRIPTION')),
  alias('projectId', 'id', info('project_id'), identity('CI_PROJECT_ID')),
  alias('projectPath', 'text', `${info('project_full_path')} project_path`, identity('CI_PROJECT_PATH')),
  alias('projectVisibility', 'text', info('project_visibility'), context('CI_PROJECT_VISIBILITY')),
  alias('namespaceId', 'id', info('namespace_id'), identity('CI_PROJECT_NAMESPACE_ID')),
  alias('rootNamespaceId', 'id', info('root_namespace_id')),
  alias('organizationId', 'id', info('organization_id')),
  // For a manual job the variable is the user who clicked, the typed field the user who started the pipeline.
  alias('userId', 'id', info('user_id'), trusted('GITLAB_USER_ID')),
  // The name does not leave the relay. A service account with a custom name counts as a person.
  alias('byBot', 'bot', '', context('GITLAB_USER_LOGIN')),
  alias('ref', 'text', 'git_info.ref ref', context('CI_COMMIT_REF_NAME')),
  alias('refType', 'text', 'git_info.ref_type ref_type'),
  alias('refProtected', 'boolean', 'git_info.protected ref_protected', context('CI_COMMIT_REF_PROTECTED')),
  alias('environment', 'text', `environment.name ${info('environment')}`, context('CI_ENVIRONMENT_NAME')),
  // Security rules judge the image, so a variable that users can set must not replace it unless trusted.
  alias('image', 'container', 'image.name image', trusted('CI_JOB_IMAGE')),
  alias('pullPolicies', 'texts', ofImage(PULL_POLICY)),
  alias('dockerUser', 'container', ofImage(DOCKER_USER)),
  alias('kubernetesUser', 'container', ofImage(KUBERNETES_USER)),
  alias('services', 'services', 'services'),
  alias('jobTags', 'texts', 'job_info.tags job_info.tag_list job_tags tags tag_list'),
  alias(
    'runnerTags',
    'texts',
    'runner_info.tags runner_info.tag_list runner_tags',
    context('CI_RUNNER_TAGS'),
  ),
  alias('runnerId', 'id', 'runner_info.id runner_id', context('CI_RUNNER_ID')),
  alias('runnerUuid', 'label', 'runner_info.uuid runner_uuid'),
  alias(
    'timeoutSeconds',
    'seconds',
    timeouts('runner_info.timeout job_info.timeout timeout_seconds timeout'),
  ),
];
