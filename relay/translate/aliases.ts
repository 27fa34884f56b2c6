import type { AdmissionRequest } from '../../policies/request/request.ts';

/** Paths of a container's settings, from the message of an image or a service. */
export const PULL_POLICY: readonly string[] = ['pull_policy', 'pull_policies'];
export const DOCKER_USER: readonly string[] = ['executor_opts.docker.user', 'docker.user'];
export const KUBERNETES_USER: readonly string[] = ['executor_opts.kubernetes.user', 'kubernetes.user'];

/** The form of a value on the wire, and how it is read. */
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

export interface VariableAlias {
  readonly name: string;
  /** Users can set variables, so identity is read from them only if the operator sets `trustVariables`. */
  readonly needsTrust: boolean;
  /** A value that differs from the typed field is suspicious. Some variables differ for good reasons. */
  readonly mustAgree: boolean;
}

/** The sources of one field of the admission request, best first. */
export interface Alias {
  readonly field: Exclude<keyof AdmissionRequest, 'variables' | 'suspicious'>;
  readonly kind: AliasKind;
  /** Paths in the question, compared without underscores and case: `job_info.project_id` finds `jobInfo.projectId`. */
  readonly paths: readonly string[];
  readonly variables: readonly VariableAlias[];
}

const identity = (name: string): VariableAlias => ({ name, needsTrust: true, mustAgree: true });
const IMAGES = ['image', 'container.image'];
const ofImage = (paths: readonly string[]): readonly string[] =>
  IMAGES.flatMap((image) => paths.map((path) => `${image}.${path}`));
/** A number of seconds, or a `google.protobuf.Duration`. */
const timeouts = (paths: readonly string[]): readonly string[] =>
  paths.flatMap((path) => [path, `${path}.seconds`]);
const context = (name: string): VariableAlias => ({ name, needsTrust: false, mustAgree: false });

/**
 * GitLab's versions send different fields under different names. The table has those seen or expected. Typed fields come before
 * variables.
 *
 * An `id` is a whole number > 0 that GitLab writes, so another value contradicts the schema. Authors write texts, which cannot: a
 * `text` that is too long is unknown, a `label` is cut.
 */
export const ALIASES: readonly Alias[] = [
  {
    field: 'jobId',
    kind: 'id',
    // The `id` of the question is last, because another service may number its questions.
    paths: ['job_info.id', 'job.id', 'job_id', 'build_id', 'id'],
    variables: [identity('CI_JOB_ID')],
  },
  {
    field: 'jobName',
    kind: 'label',
    paths: ['job_info.name', 'job.name', 'job_name'],
    variables: [context('CI_JOB_NAME')],
  },
  {
    field: 'jobStage',
    kind: 'label',
    paths: ['job_info.stage', 'job.stage', 'job_stage'],
    variables: [context('CI_JOB_STAGE')],
  },
  {
    field: 'pipelineId',
    kind: 'id',
    paths: ['job_info.pipeline_id', 'pipeline.id', 'job.pipeline_id', 'pipeline_id'],
    variables: [context('CI_PIPELINE_ID')],
  },
  {
    field: 'pipelineSource',
    kind: 'text',
    paths: ['job_info.pipeline_source', 'pipeline.source', 'pipeline_source'],
    variables: [context('CI_PIPELINE_SOURCE')],
  },
  {
    field: 'mergeRequestId',
    kind: 'id',
    paths: ['job_info.merge_request_id', 'merge_request.id', 'merge_request_id'],
    variables: [context('CI_MERGE_REQUEST_ID')],
  },
  // GitLab sends no id of a schedule. Users write its description, so only a digest leaves the relay.
  {
    field: 'scheduleDigest',
    kind: 'digest',
    paths: [],
    variables: [context('CI_PIPELINE_SCHEDULE_DESCRIPTION')],
  },
  {
    field: 'projectId',
    kind: 'id',
    paths: ['job_info.project_id', 'project.id', 'job.project_id', 'project_id'],
    variables: [identity('CI_PROJECT_ID')],
  },
  {
    field: 'projectPath',
    kind: 'text',
    paths: [
      'job_info.project_full_path',
      'project.full_path',
      'project.path_with_namespace',
      'project_full_path',
      'project_path',
    ],
    variables: [identity('CI_PROJECT_PATH')],
  },
  {
    field: 'projectVisibility',
    kind: 'text',
    paths: ['job_info.project_visibility', 'project.visibility', 'project_visibility'],
    variables: [context('CI_PROJECT_VISIBILITY')],
  },
  {
    field: 'namespaceId',
    kind: 'id',
    paths: ['job_info.namespace_id', 'namespace.id', 'project.namespace_id', 'namespace_id'],
    variables: [identity('CI_PROJECT_NAMESPACE_ID')],
  },
  {
    field: 'rootNamespaceId',
    kind: 'id',
    paths: [
      'job_info.root_namespace_id',
      'root_namespace.id',
      'project.root_namespace_id',
      'root_namespace_id',
    ],
    variables: [],
  },
  {
    field: 'organizationId',
    kind: 'id',
    paths: ['job_info.organization_id', 'organization.id', 'organization_id'],
    variables: [],
  },
  {
    field: 'userId',
    kind: 'id',
    paths: ['job_info.user_id', 'user.id', 'user_id'],
    // For a manual job the variable is the user who clicked, the typed field the user who started the pipeline.
    variables: [{ name: 'GITLAB_USER_ID', needsTrust: true, mustAgree: false }],
  },
  // The name does not leave the relay. A service account with a custom name counts as a person.
  { field: 'byBot', kind: 'bot', paths: [], variables: [context('GITLAB_USER_LOGIN')] },
  {
    field: 'ref',
    kind: 'text',
    paths: ['git_info.ref', 'git.ref', 'ref'],
    variables: [context('CI_COMMIT_REF_NAME')],
  },
  { field: 'refType', kind: 'text', paths: ['git_info.ref_type', 'git.ref_type', 'ref_type'], variables: [] },
  {
    field: 'refProtected',
    kind: 'boolean',
    paths: ['git_info.protected', 'git.protected', 'ref_protected'],
    variables: [context('CI_COMMIT_REF_PROTECTED')],
  },
  {
    field: 'environment',
    kind: 'text',
    paths: ['environment.name', 'job_info.environment', 'environment', 'environment_name'],
    variables: [context('CI_ENVIRONMENT_NAME')],
  },
  {
    field: 'image',
    kind: 'container',
    paths: [...ofImage(['name']), ...IMAGES, 'image_name'],
    // Security rules judge the image, so a variable that users can set must not replace it unless trusted.
    variables: [{ name: 'CI_JOB_IMAGE', needsTrust: true, mustAgree: false }],
  },
  { field: 'pullPolicies', kind: 'texts', paths: ofImage(PULL_POLICY), variables: [] },
  { field: 'dockerUser', kind: 'container', paths: ofImage(DOCKER_USER), variables: [] },
  { field: 'kubernetesUser', kind: 'container', paths: ofImage(KUBERNETES_USER), variables: [] },
  { field: 'services', kind: 'services', paths: ['services'], variables: [] },
  {
    field: 'jobTags',
    kind: 'texts',
    paths: ['job_info.tags', 'job_info.tag_list', 'job.tags', 'job.tag_list', 'job_tags', 'tags', 'tag_list'],
    variables: [],
  },
  {
    field: 'runnerTags',
    kind: 'texts',
    paths: ['runner_info.tags', 'runner_info.tag_list', 'runner.tags', 'runner.tag_list', 'runner_tags'],
    variables: [context('CI_RUNNER_TAGS')],
  },
  {
    field: 'runnerId',
    kind: 'id',
    paths: ['runner_info.id', 'runner.id', 'runner_id'],
    variables: [context('CI_RUNNER_ID')],
  },
  {
    field: 'runnerUuid',
    kind: 'label',
    paths: ['runner_info.uuid', 'runner.uuid', 'runner_uuid'],
    variables: [],
  },
  {
    field: 'timeoutSeconds',
    kind: 'seconds',
    paths: timeouts([
      'runner_info.timeout',
      'runner_info.timeout_seconds',
      'runner.timeout',
      'job_info.timeout',
      'job.timeout',
      'timeout_seconds',
      'timeout',
    ]),
    variables: [],
  },
];
