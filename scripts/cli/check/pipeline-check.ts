import type { EvaluationRules } from '../../../functions/answers/job/rule-results.ts';
import type { RequestPlace } from '../evaluation/place-flags.ts';
import type { ExpandedJob } from '../pipeline/expanded-job.ts';
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

/** The check as one word: `ok` only if everything was read and every job is ok. */
export function resultOf(check: PipelineCheck): JobCheck['verdict'] {
  if (countOf(check, 'rejected') > 0) return 'rejected';
  return isWhole(check) && countOf(check, 'ok') === check.jobs.length ? 'ok' : 'not sure';
}

/** Everything was read that the pipeline and its jobs rest on. */
export const isWhole = ({ pipeline, jobs }: PipelineCheck): boolean =>
  pipeline.notRead.length === 0 && jobs.every(({ job }) => unreadBy(job).length === 0);

/** Unread parts that a form of a job depends on. */
export const unreadBy = (job: ExpandedJob): readonly string[] => [
  ...new Set([job, ...(job.otherForms ?? [])].flatMap(({ notRead = [] }) => notRead)),
];

/** Unread parts of single jobs, with the jobs. Parts that concern the whole pipeline are left out. */
export function unreadRows({
  pipeline,
  jobs,
}: PipelineCheck): readonly { readonly what: string; readonly jobs: readonly string[] }[] {
  const rows = new Map<string, Set<string>>();
  for (const { job } of jobs)
    for (const what of unreadBy(job))
      if (!pipeline.notRead.includes(what)) rows.set(what, (rows.get(what) ?? new Set()).add(job.definedAs));
  return [...rows].map(([what, names]) => ({ what, jobs: [...names] }));
}

export const NOT_READ = 'Not read, so nothing that rests on it is ok';

export const countOf = ({ jobs }: PipelineCheck, verdict: JobCheck['verdict']): number =>
  jobs.filter((each) => each.verdict === verdict).length;
