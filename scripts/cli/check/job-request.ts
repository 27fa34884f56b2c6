import type { VariableAllowlist } from '../../../policies/policy.ts';
import type { AdmissionRequest, ServiceRequest } from '../../../policies/request/request.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { allowedServiceVariables, allowedVariables } from '../evaluation/allowed-variables.ts';
import type { RequestPlace } from '../evaluation/place-flags.ts';
import type { ExpandedJob } from '../pipeline/expanded-job.ts';
import type { PipelineService } from '../pipeline/pipeline-job.ts';
import { knownExpander, type Variables } from '../pipeline/variables.ts';

export interface RequestOptions {
  readonly place: RequestPlace;
  readonly variables: VariableAllowlist;
  /** `as-written` asks about `$CI_IMAGE`, as a router may. */
  readonly images: 'expanded' | 'as-written';
  /** The project's own timeout, for jobs that set none; absent: not known. */
  readonly projectTimeoutSeconds?: number;
  /** GitLab's id of the job is not known: any whole number from 1. */
  readonly jobId: number;
}

/** Builds the admission request of a job in a file, as far as file and flags define it. */
export function pipelineRequestOf(job: ExpandedJob, options: RequestOptions): AdmissionRequest {
  const { environment, pullPolicies, dockerUser, kubernetesUser } = job;
  const image = options.images === 'as-written' ? (job.imageAsWritten ?? job.image) : job.image;
  const timeoutSeconds = job.timeoutSeconds ?? options.projectTimeoutSeconds;
  const raw = new Set(job.rawVariables);
  const values = valuesOf(job.variables, job.variables, raw);
  const { kept, hidden } = allowedVariables(values, options.variables, raw);
  // Unset variables may come from settings of the project or group, which only GitLab knows.
  const settings = options.variables.compared.filter((name) => !Object.hasOwn(job.variables, name));
  const untold = [...hidden, ...settings];
  return {
    ...options.place,
    jobId: options.jobId,
    jobName: job.name,
    jobStage: job.stage,
    jobTags: job.tags,
    ...withoutAbsent({ environment, image, pullPolicies, dockerUser, kubernetesUser }),
    services: job.services.map((service) => serviceOf(service, job.variables, raw)),
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
    variables: kept,
    ...(untold.length > 0 && { hiddenVariables: untold }),
  };
}

const serviceOf = (
  { variables = {}, ...service }: PipelineService,
  around: Variables,
  raw: ReadonlySet<string>,
): ServiceRequest => ({
  ...service,
  variables: allowedServiceVariables(valuesOf(variables, around, raw)),
});

/** Variables may be written with each other; GitLab puts the values in before it asks, except into its `raw` ones. */
function valuesOf(variables: Variables, known: Variables, raw: ReadonlySet<string>): Variables {
  const expand = knownExpander(known, raw);
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      name,
      variables === known && raw.has(name) ? value : expand(value),
    ]),
  );
}
