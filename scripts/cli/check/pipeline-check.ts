import type { CheckedPipeline } from '../../../functions/answers/job/model.ts';
import type { EvaluationRules } from '../../../functions/answers/job/rule-results.ts';
import { counterName } from '../../../policies/claim.ts';
import type { Mode } from '../../../policies/mode.ts';
import type { Violation } from '../../../policies/reason.ts';
import { isInFlight } from '../../../policies/unit.ts';
import { codedReasonText, type LimitAsk, needsText } from '../evaluation/rule-text.ts';
import type { ExpandedJob, ExpandedPipeline } from '../pipeline/expanded-pipeline.ts';
import { checkForms, type JobCheck, type RequestOptions, type UndecidedRule } from './job-check.ts';

export interface PipelineCheck {
  readonly jobs: readonly JobCheck[];
  readonly costMicros: number;
  readonly currency: string;
  readonly limits: readonly RunAsk[];
  readonly pipeline: ExpandedPipeline;
}

interface CheckOptions extends Omit<RequestOptions, 'variables' | 'jobId'> {
  readonly nowMs: number;
}

export function checkPipeline(
  pipeline: ExpandedPipeline,
  rules: EvaluationRules,
  options: CheckOptions,
): PipelineCheck {
  const { variables, currency } = rules.policy;
  const jobs = pipeline.jobs.map((job, index) =>
    checkForms(job, rules, { ...options, variables, jobId: index + 1 }, options.nowMs),
  );
  const costMicros = jobs.reduce((sum, { terms }) => sum + terms.costMicros, 0);
  return { jobs, costMicros, currency, limits: runAsks(jobs), pipeline };
}

/** The check as one word: `ok` only if everything was read and every job is ok. */
export function resultOf(check: PipelineCheck): JobCheck['verdict'] {
  if (countOf(check, 'rejected') > 0) return 'rejected';
  return isWhole(check) && countOf(check, 'ok') === check.jobs.length ? 'ok' : 'not sure';
}

export const isWhole = ({ pipeline, jobs }: PipelineCheck): boolean =>
  pipeline.notRead.length === 0 && jobs.every(({ job }) => unreadBy(job).length === 0);

/** What jobs rest on and was not read, besides what the whole pipeline rests on. */
export const unreadOfJobs = ({
  jobs,
  pipeline,
}: PipelineCheck): readonly (readonly [string, ExpandedJob])[] =>
  jobs.flatMap(({ job }) =>
    unreadBy(job)
      .filter((what) => !pipeline.notRead.includes(what))
      .map((what) => [what, job] as const),
  );

export const unreadBy = (job: ExpandedJob): readonly string[] => [
  ...new Set([job, ...(job.otherForms ?? [])].flatMap(({ notRead = [] }) => notRead)),
];

export const countOf = ({ jobs }: PipelineCheck, verdict: JobCheck['verdict']): number =>
  jobs.filter((each) => each.verdict === verdict).length;

interface RunAsk extends LimitAsk {
  readonly jobs: number;
  /** Returned amounts count for the largest stage only, because stages run in sequence. */
  readonly perStage: boolean;
  /** More than the whole limit: some jobs cannot be admitted, however empty the counter is. */
  readonly exceeds: boolean;
}

/** In the order the jobs meet them. Jobs that are rejected ask for nothing. */
function runAsks(checks: readonly JobCheck[]): readonly RunAsk[] {
  const all = checks
    .filter(({ verdict }) => verdict !== 'rejected')
    .flatMap(({ job: { stage }, asks }) => asks.map((ask) => ({ ...ask, stage })));
  return [...Map.groupBy(all, ({ counter }) => counterName(counter)).values()].flatMap((asks) => {
    const [first] = asks;
    if (first === undefined) return [];
    const { stage: _, ...ask } = first;
    const sum = (some: readonly LimitAsk[]): number => some.reduce((total, each) => total + each.asked, 0);
    const perStage = isInFlight(ask.unit);
    const stages = Map.groupBy(asks, ({ stage }) => stage);
    const asked = perStage ? Math.max(...[...stages.values()].map(sum)) : sum(asks);
    const exceeds = ask.bound !== undefined && asked > ask.bound;
    return { ...ask, asked, jobs: asks.length, perStage, exceeds };
  });
}

/** `rejects now`: by a console or ledger alone, above all for used-up limits. */
type FindingKind = 'rejects' | 'rejects now' | 'cannot tell' | 'watched';

export interface Finding {
  readonly kind: FindingKind;
  readonly rule: string;
  readonly mode: Mode;
  /** Begins with the code, where there is one. */
  readonly text: string;
  readonly message?: string | undefined;
  readonly check: JobCheck;
}

/** In the order of the jobs. @param now - rules that need more than the files have stay undecided. */
export function findingsOf({ jobs, currency }: PipelineCheck, now?: CheckedPipeline): readonly Finding[] {
  return jobs.flatMap((check, index) => {
    const { verdict, rejects, untold, watched, results } = check;
    const finding = (
      kind: FindingKind,
      { rule, mode }: RuledBy,
      text: string,
      message?: string,
    ): Finding => ({
      ...{ kind, rule, mode, text, message, check },
    });
    const violation = (kind: FindingKind, each: Violation): Finding => {
      const message = kind === 'rejects' ? results.find(({ id }) => id === each.rule)?.message : undefined;
      return finding(kind, each, codedReasonText(each.reason, currency), message);
    };
    const late = (verdict === 'rejected' ? [] : (now?.jobs[index]?.reasons ?? [])).filter(
      ({ rule, mode, code }) =>
        mode === 'enforce' && code !== 'FIELD_MISSING' && !untold.some((each) => each.rule === rule),
    );
    return [
      ...rejects.map((each) => violation('rejects', each)),
      ...late.map((each) => finding('rejects now', each, `[${each.code}] ${each.text}`)),
      ...untold.map((each) => finding('cannot tell', each, untoldText(each, currency))),
      ...watched.map((each) => violation('watched', each)),
    ];
  });
}

type RuledBy = Pick<Finding, 'rule' | 'mode'>;

function untoldText({ needs, against, dependsOn }: UndecidedRule, currency: string): string {
  const what = against.map(({ reason }) => codedReasonText(reason, currency)).join('; ');
  const needed = needs.length === 0 ? '' : needsText(needs);
  if (dependsOn === undefined) return what === '' ? needed : `${what}, unless an exception holds: ${needed}`;
  // Conditions that select a job's form: of its rules, and variables in its tags.
  const forms = [
    ...(dependsOn.length === 0 ? [] : [`rules: ${conditionsText(dependsOn)}`]),
    ...(needed === '' ? [] : [`its tags: ${needed}`]),
  ];
  return `${what}, depends on ${forms.join(', and on ')}`;
}

const CONDITIONS_SHOWN = 3;
const CHARACTERS_SHOWN = 100;

/** `$DEPLOY == "yes" (--variable DEPLOY=…)`; a long one, such as a list of paths, is cut. */
export function conditionText(condition: string): string {
  const shown =
    condition.length > CHARACTERS_SHOWN ? `${condition.slice(0, CHARACTERS_SHOWN - 1)}…` : condition;
  const flags = [...new Set([...condition.matchAll(/\$(\w+)/g)].map(([, name = '']) => flagOf(name)))];
  if (condition.startsWith('refs: ')) flags.push('--ref, --source');
  return flags.length === 0 ? shown : `${shown} (${flags.join(', ')})`;
}

export const conditionsText = (conditions: readonly string[]): string =>
  firstOf(conditions.map(conditionText), CONDITIONS_SHOWN).join('; ');

function flagOf(name: string): string {
  if (name === 'CI_PIPELINE_SOURCE') return '--source';
  if (/^CI_COMMIT_(?:BRANCH|TAG|REF_NAME|REF_SLUG)$/.test(name)) return '--ref';
  if (name === 'CI_COMMIT_REF_PROTECTED') return '--protected or --unprotected';
  if (/^CI_PROJECT_(?:ID|PATH|NAME|NAMESPACE|ROOT_NAMESPACE)$/.test(name)) return '--project';
  return `--variable ${name}=…`;
}

export const firstOf = (all: readonly string[], max: number, and = 'and'): readonly string[] => [
  ...all.slice(0, max),
  ...(all.length > max ? [`${and} ${all.length - max} more`] : []),
];
