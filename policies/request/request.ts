/**
 * An admission request. The relay translates it once from the wire and sends it to the admit function as
 * JSON.
 *
 * Every field but the job id is optional, because GitLab versions send different fields. A rule that needs a
 * missing field follows its own `on_missing`.
 */
export interface AdmissionRequest {
  readonly jobId: number;
  readonly jobName?: string;
  readonly jobStage?: string;
  readonly pipelineId?: number;
  readonly pipelineSource?: string;
  /** GitLab's id, not the number in its project. */
  readonly mergeRequestId?: number;
  /** Stands for the description of the pipeline's schedule, which never leaves the relay. */
  readonly scheduleDigest?: string;

  readonly projectId?: number;
  readonly projectPath?: string;
  readonly projectVisibility?: string;
  readonly namespaceId?: number;
  /** The top-level group: the key of batching and of contention. */
  readonly rootNamespaceId?: number;
  readonly organizationId?: number;
  readonly userId?: number;
  /** True if the user name belongs to a token or service account. */
  readonly byBot?: boolean;

  readonly ref?: string;
  readonly refType?: string;
  readonly refProtected?: boolean;
  readonly environment?: string;

  /** The image with its variables put in. A `$` left in it means that the image is unknown. */
  readonly image?: string;
  /** `image.pull_policy` of the job. Absent: GitLab sent none, or this version cannot say. */
  readonly pullPolicies?: readonly string[];
  /** `image.docker.user`, variables put in as in `image`: a name or an id, perhaps with a group. */
  readonly dockerUser?: string;
  /** `image.kubernetes.user`, variables put in as in `image`: `1000` or `1000:1001`. */
  readonly kubernetesUser?: string;
  readonly services?: readonly ServiceRequest[];

  /** `[]` when GitLab said "untagged"; absent when it said nothing. */
  readonly jobTags?: readonly string[];
  readonly runnerTags?: readonly string[];
  readonly runnerId?: number;
  readonly runnerUuid?: string;
  readonly timeoutSeconds?: number;

  /** Absent: GitLab sent no variables at all. `{}`: it sent them and no allowlisted one is set. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Names of compared variables whose value is unknown: masked, a file, too long, or built from such. */
  readonly hiddenVariables?: readonly string[];

  /** Identity fields that contradicted each other; the subject they would name is then unknown. */
  readonly suspicious?: readonly string[];
}

export interface ServiceRequest {
  readonly name: string;
  readonly alias?: string;
  readonly pullPolicies?: readonly string[];
  readonly dockerUser?: string;
  readonly kubernetesUser?: string;
  /** Only `KUBERNETES_*`: the service's own resources. Absent: GitLab sent none. */
  readonly variables?: Readonly<Record<string, string>>;
}
