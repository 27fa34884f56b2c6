import type { EvaluationRules } from '../../../functions/answers/job/rule-results.ts';
import type { RequestPlace } from '../evaluation/place-flags.ts';
import type { ExpandedPipeline } from '../pipeline/expanded-pipeline.ts';
import { checkForms } from './forms-check.ts';
import type { JobCheck } from './job-check.ts';
import type { RequestOptions } from './job-request.ts';
import { type RunAsk, runAsks } from './run-asks.ts';

export interface PipelineCheck {
  readonly jobs: readonly JobCheck[];
  /** In all jobs together, if every one runs as long as estimated. */
  readonly costMicros: number;
  readonly currency: string;
  readonly limits: readonly RunAsk[];
  readonly pipeline: ExpandedPipeline;
  /** Jobs whose image is written with a variable: as it is written it may be judged differently. */
  readonly imagesWithVariables: number;
}

interface CheckOptions extends Pick<RequestOptions, 'images' | 'projectTimeoutSeconds'> {
  readonly place: RequestPlace;
  readonly nowMs: number;
}

export function checkPipeline(
  pipeline: ExpandedPipeline,
  rules: EvaluationRules,
  options: CheckOptions,
): PipelineCheck {
  const { variables } = rules.policy;
  const jobs = pipeline.jobs.map((job, index) => {
    return checkForms(job, rules, { ...options, variables, jobId: index + 1 }, options.nowMs);
  });
  return {
    jobs,
    costMicros: jobs.reduce((sum, { terms }) => sum + terms.costMicros, 0),
    currency: rules.policy.currency,
    limits: runAsks(jobs),
    pipeline,
    imagesWithVariables: pipeline.jobs.filter(({ imageAsWritten }) => imageAsWritten !== undefined).length,
  };
}

export const countOf = ({ jobs }: PipelineCheck, verdict: JobCheck['verdict']): number =>
  jobs.filter((each) => each.verdict === verdict).length;
