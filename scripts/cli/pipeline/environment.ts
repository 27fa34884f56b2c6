import type { PipelineJob } from './pipeline-job.ts';
import { expandKnown, type Variables } from './variables.ts';
import { isMap, type YamlMap } from './yaml-map.ts';

/**
 * Returns the job's environment name as in CI_ENVIRONMENT_NAME: a text, or a mapping with a `name`, for any
 * `action`. Values that only a running pipeline has (a merge request's number) stay as written.
 */
export function environmentOf(job: PipelineJob, entry: YamlMap, predefined: Variables): string | undefined {
  const written = isMap(entry.environment) ? entry.environment.name : entry.environment;
  if (typeof written !== 'string' || written === '') return undefined;
  const known = { ...predefined, CI_JOB_NAME: job.name, CI_JOB_STAGE: job.stage, ...job.variables };
  return expandKnown(written, known, new Set(job.rawVariables));
}
