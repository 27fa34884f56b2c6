import type { EvaluationRules } from '../../../functions/answers/job/rule-results.ts';
import { counterName } from '../../../policies/claim.ts';
import type { Mode } from '../../../policies/mode.ts';
import { isInFlight } from '../../../policies/unit.ts';
import type { RequestPlace } from '../evaluation/place-flags.ts';
import { codedReasonText, type LimitAsk, needsText } from '../evaluation/rule-text.ts';
import type { ExpandedJob, ExpandedPipeline } from '../pipeline/expanded-pipeline.ts';
import { checkForms, type JobCheck, type RequestOptions } from './job-check.ts';

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

/** Claims of one run on one limit, by estimated durations. */
interface RunAsk extends LimitAsk {
  readonly jobs: number;
  /** Returned amounts count for the largest stage only, because stages run in sequence. */
  readonly perStage: boolean;
  /** More than the whole limit: some jobs cannot be admitted, however empty the counter is. */
  readonly exceeds: boolean;
}

/** In the order the jobs meet them. Jobs that are rejected ask for nothing. */
function runAsks(checks: readonly JobCheck[]): readonly RunAsk[] {
  const byCounter = new Map<
    string,
    { readonly first: LimitAsk; readonly stages: Map<string, number>; jobs: number }
  >();
  for (const { job, asks, verdict } of checks) {
    if (verdict === 'rejected') continue;
    for (const ask of asks) {
      const name = counterName(ask.counter);
      const sum = byCounter.get(name) ?? { first: ask, stages: new Map<string, number>(), jobs: 0 };
      sum.stages.set(job.stage, (sum.stages.get(job.stage) ?? 0) + ask.asked);
      sum.jobs += 1;
      byCounter.set(name, sum);
    }
  }
  return [...byCounter.values()].map(({ first, stages, jobs }) => {
    const perStage = isInFlight(first.unit);
    const amounts = [...stages.values()];
    const asked = perStage ? Math.max(...amounts) : amounts.reduce((sum, each) => sum + each, 0);
    return { ...first, asked, jobs, perStage, exceeds: first.bound !== undefined && asked > first.bound };
  });
}

/** One thing several jobs have in common. */
export interface PipelineFinding {
  readonly rule: string;
  readonly mode: Mode;
  /** Begins with the code, where there is one. */
  readonly text: string;
  /** The rule's message. */
  readonly message?: string;
  readonly jobs: readonly JobCheck[];
  /** It is about all jobs of the pipeline. */
  readonly everyJob: boolean;
}

/** A finding of one job. `message` is for those that reject. */
type Told = Omit<PipelineFinding, 'jobs' | 'everyJob'>;

/** Like findings of different jobs as one, in the order they are met. */
export function rejecting(checks: readonly JobCheck[], currency: string): readonly PipelineFinding[] {
  return grouped(checks, ({ rejects, results }) =>
    rejects.map(({ rule, mode, reason }) => {
      const message = results.find(({ id }) => id === rule)?.message;
      return {
        rule,
        mode,
        text: codedReasonText(reason, currency),
        ...(message !== undefined && { message }),
      };
    }),
  );
}

export function watching(checks: readonly JobCheck[], currency: string): readonly PipelineFinding[] {
  return grouped(checks, ({ watched }) =>
    watched.map(({ rule, mode, reason }) => ({ rule, mode, text: codedReasonText(reason, currency) })),
  );
}

export function untelling(checks: readonly JobCheck[], currency: string): readonly PipelineFinding[] {
  return grouped(checks, ({ untold }) =>
    untold.map(({ rule, mode, needs, against, dependsOn }) => {
      const what = against.map(({ reason }) => codedReasonText(reason, currency)).join('; ');
      if (dependsOn !== undefined)
        return { rule, mode, text: `${what}, depends on ${formsText(dependsOn, needs)}` };
      return {
        rule,
        mode,
        text: what === '' ? needsText(needs) : `${what}, unless an exception holds: ${needsText(needs)}`,
      };
    }),
  );
}

/** Conditions that select a job's form: of its rules, and variables in its tags. */
const formsText = (conditions: readonly string[], tags: readonly string[]): string =>
  [
    ...(conditions.length === 0 ? [] : [`rules: ${conditionsText(conditions)}`]),
    ...(tags.length === 0 ? [] : [`its tags: ${needsText(tags)}`]),
  ].join(', and on ');

function grouped(
  checks: readonly JobCheck[],
  findingsOf: (check: JobCheck) => readonly Told[],
): readonly PipelineFinding[] {
  const byText = new Map<string, { readonly finding: Told; readonly jobs: JobCheck[] }>();
  for (const check of checks) {
    for (const finding of findingsOf(check)) {
      const key = JSON.stringify([finding.rule, finding.mode, finding.text]);
      const present = byText.get(key);
      if (present === undefined) byText.set(key, { finding, jobs: [check] });
      else present.jobs.push(check);
    }
  }
  return [...byText.values()].map(({ finding, jobs }) => ({
    ...finding,
    jobs,
    everyJob: jobs.length === checks.length,
  }));
}

/** An undecidable condition, and the jobs that depend on it. */
interface ConditionRow {
  /** Shortened, with the flag that decides it. */
  readonly text: string;
  readonly jobs: readonly string[];
}

/** Each condition once, the one that most jobs hang on first. */
export function conditionRows(checks: readonly JobCheck[]): readonly ConditionRow[] {
  const jobs = new Map<string, Set<string>>();
  for (const { job } of checks) {
    for (const condition of job.dependsOn ?? [])
      jobs.set(condition, (jobs.get(condition) ?? new Set()).add(job.definedAs));
  }
  return [...jobs]
    .map(([condition, names]) => ({ text: jobConditionText(condition), jobs: [...names] }))
    .sort((one, other) => other.jobs.length - one.jobs.length);
}

const PATHS_SHOWN = 3;
const CONDITIONS_SHOWN = 3;
const CHARACTERS_SHOWN = 100;

/** `$DEPLOY == "yes" (--variable DEPLOY=…)`; a long list of paths by its first. */
function jobConditionText(condition: string): string {
  const [, kind, list] = /^(changes in|exists) (.*)$/s.exec(condition) ?? [];
  if (kind !== undefined && list !== undefined) return `${kind} ${shortList(list.split(', '))}`;
  const shown =
    condition.length > CHARACTERS_SHOWN ? `${condition.slice(0, CHARACTERS_SHOWN - 1)}…` : condition;
  const flags = [...new Set([...condition.matchAll(/\$(\w+)/g)].map(([, name = '']) => flagOf(name)))];
  if (condition.startsWith('refs: ')) flags.push('--ref, --source');
  return flags.length === 0 ? shown : `${shown} (${flags.join(', ')})`;
}

/** Joins conditions in one sentence; a long list is cut. */
export const conditionsText = (conditions: readonly string[]): string =>
  firstOf(conditions.map(jobConditionText), CONDITIONS_SHOWN).join('; ');

function shortList(paths: readonly string[]): string {
  const rest = paths.length - PATHS_SHOWN;
  return rest <= 0 ? paths.join(', ') : `${paths.slice(0, PATHS_SHOWN).join(', ')} and ${rest} more`;
}

/** The flag that sets a variable. */
function flagOf(name: string): string {
  if (name === 'CI_PIPELINE_SOURCE') return '--source';
  if (/^CI_COMMIT_(?:BRANCH|TAG|REF_NAME|REF_SLUG)$/.test(name)) return '--ref';
  if (name === 'CI_COMMIT_REF_PROTECTED') return '--protected or --unprotected';
  if (/^CI_PROJECT_(?:ID|PATH|NAME|NAMESPACE|ROOT_NAMESPACE)$/.test(name)) return '--project';
  return `--variable ${name}=…`;
}

/** The first of them, and how many more there are. */
export const firstOf = (
  all: readonly string[],
  max: number,
  more = (rest: number): string => `and ${rest} more`,
): readonly string[] => [...all.slice(0, max), ...(all.length > max ? [more(all.length - max)] : [])];
