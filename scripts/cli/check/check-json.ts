import { ruleJson } from '../evaluation/rule-json.ts';
import type { JobCheck } from './job-check.ts';
import type { LiveCheck } from './live-step.ts';
import { countOf, type PipelineCheck, resultOf, unreadBy } from './pipeline-check.ts';

/**
 * The check for scripts: one object, with every rule of every job. Amounts in whole units, money in
 * micro-units.
 *
 * @param before - the target branch's pipeline, as totals.
 */
export function checkJson(
  check: PipelineCheck,
  before: PipelineCheck | undefined,
  about: Readonly<Record<string, unknown>>,
  now?: LiveCheck,
): object {
  const { pipeline } = check;
  return {
    ...about,
    currency: check.currency,
    jobs: check.jobs.map(jobJson),
    /** `ok` only if everything was read and every job is ok. */
    result: resultOf(check),
    total: totalJson(check),
    ...(before !== undefined && { before: totalJson(before) }),
    limits: check.limits.map(({ counter: _, ...ask }) => ask),
    /** The decisions of a console or ledger about the same jobs, in their order. */
    ...(now !== undefined && { now }),
    notRead: pipeline.notRead,
    bridges: pipeline.bridges,
    problems: pipeline.problems,
    warnings: pipeline.warnings,
    /** If `workflow:rules` create a pipeline, and the conditions. */
    created: pipeline.isCreated,
    createdDependsOn: pipeline.workflowDependsOn,
    leftOut: pipeline.leftOut.map(({ name, place }) => ({ name, ...place })),
    notEvaluated: ['when'],
  };
}

const totalJson = (check: PipelineCheck): object => ({
  jobs: check.jobs.length,
  costMicros: check.costMicros,
  rejected: countOf(check, 'rejected'),
  notSure: countOf(check, 'not sure'),
  ok: countOf(check, 'ok'),
});

const jobJson = ({ job, terms, verdict, rejects, watched, untold, asks, results }: JobCheck): object => ({
  name: job.name,
  stage: job.stage,
  ...(job.place !== undefined && { file: job.place.file, line: job.place.line }),
  ...(job.dependsOn !== undefined && { dependsOn: job.dependsOn, forms: 1 + (job.otherForms ?? []).length }),
  ...(job.environment !== undefined && { environment: job.environment }),
  runnerClass: terms.runnerClass,
  ...(terms.unclassed && { unclassed: true }),
  estimateSeconds: terms.estimateSeconds,
  costMicros: terms.costMicros,
  verdict,
  notRead: unreadBy(job),
  rejects,
  watched,
  cannotTell: untold,
  asks: asks.map(({ counter: _, ...ask }) => ask),
  rules: results.map(ruleJson),
});
