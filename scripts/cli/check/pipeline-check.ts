import type { CheckedPipeline } from '../../../functions/answers/job/model.ts';
import {
  type EvaluationRules,
  type RuleResult,
  ruleResults,
} from '../../../functions/answers/job/rule-results.ts';
import { counterName } from '../../../policies/claim.ts';
import type { Terms } from '../../../policies/decision.ts';
import { evaluate } from '../../../policies/evaluate.ts';
import { isKnownImage } from '../../../policies/images/image-judge.ts';
import type { Mode } from '../../../policies/mode.ts';
import type { VariableAllowlist } from '../../../policies/policy.ts';
import { pricesAt } from '../../../policies/price.ts';
import type { Violation } from '../../../policies/reason.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { isInFlight } from '../../../policies/unit.ts';
import { fieldOfVariable } from '../../../policies/variables/compared-value.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { groupsOf } from '../../terminal/groups.ts';
import { allowedServiceVariables, allowedVariables } from '../evaluation/allowed-variables.ts';
import type { RequestPlace } from '../evaluation/place-flags.ts';
import {
  codedReasonText,
  isSentByGitLab,
  type LimitAsk,
  limitAskOf,
  needsText,
} from '../evaluation/rule-text.ts';
import type { ExpandedJob, ExpandedPipeline } from '../pipeline/expanded-pipeline.ts';
import { withSubject } from '../pipeline/pipeline-error.ts';
import { knownExpander, type UnsetVariables, unsetNames, type Variables } from '../pipeline/variables.ts';

export interface JobCheck {
  readonly job: ExpandedJob;
  readonly terms: Terms;
  readonly results: readonly RuleResult[];
  /** `ok`: no rule is against it, and all that it rests on was read; what is left of its limits is not known here. */
  readonly outcome: 'rejected' | 'not sure' | 'ok';
  readonly rejects: readonly Violation[];
  readonly watched: readonly Violation[];
  readonly undecided: readonly UndecidedRule[];
  readonly asks: readonly LimitAsk[];
}

interface UndecidedRule {
  readonly rule: string;
  readonly mode: Mode;
  readonly needs: readonly string[];
  /** Violations, unless one of these fields exempts the job. */
  readonly against: readonly Violation[];
  /** Conditions of the job's own `rules:`, where only some of its forms are rejected; `needs` then are those of its tags. */
  readonly dependsOn?: readonly string[];
}

function checkJob(
  job: ExpandedJob,
  request: AdmissionRequest,
  rules: EvaluationRules,
  nowMs: number,
): JobCheck {
  const results = ruleResults(request, rules, nowMs);
  const undecided = results.flatMap((result) => readUndecided(result, job) ?? []);
  const certain = results.flatMap((result) => (isUnsure(result) ? [] : certainViolations(result, job)));
  const rejects = certain.filter(({ mode }) => mode === 'enforce');
  const unsure = undecided.some(({ mode }) => mode === 'enforce');
  return {
    job,
    terms: evaluate(request, { ...rules, nowMs }).terms,
    results,
    outcome: rejects.length > 0 ? 'rejected' : unsure || job.notRead !== undefined ? 'not sure' : 'ok',
    rejects,
    watched: certain.filter(({ mode, exempt }) => mode !== 'enforce' && exempt !== true),
    undecided,
    asks: results.flatMap(({ claims }) => claims.filter(({ neverFits }) => !neverFits).map(limitAskOf)),
  };
}

/** Leaves out those that rest on a field missing here alone (GitLab or an unread file has it), or on an unknown variable. */
const certainViolations = ({ violations }: RuleResult, job: ExpandedJob): readonly Violation[] =>
  violations.filter(
    (each) =>
      unsetBehind(each, job).length === 0 &&
      (each.reason.code !== 'FIELD_MISSING' ||
        (job.notRead === undefined && !isSentByGitLab(each.reason.field))),
  );

const isUnsure = ({ unproven }: RuleResult): boolean => unproven.some(isSentByGitLab);

function readUndecided(result: RuleResult, job: ExpandedJob): UndecidedRule | undefined {
  const against = isUnsure(result) ? certainViolations(result, job) : [];
  const fields = [...result.missing, ...(against.length > 0 ? result.unproven : [])];
  const needs = new Set([
    ...fields.filter(isSentByGitLab),
    ...fields.flatMap((field) => unsetInField(field, job.unsetVariables ?? {})),
    ...result.violations.flatMap((violation) => unsetBehind(violation, job)),
  ]);
  return needs.size === 0 ? undefined : { rule: result.id, mode: result.mode, needs: [...needs], against };
}

/** Checks each form on each runner class of its tags. The result is certain only if all agree; its cost is the highest. */
function checkForms(
  job: ExpandedJob,
  rules: EvaluationRules,
  options: RequestOptions,
  nowMs: number,
): JobCheck {
  const { classes } = pricesAt(rules.policy.prices, nowMs);
  const forms = [job, ...(job.otherForms ?? [])];
  const check = (form: ExpandedJob): JobCheck => {
    const request = withSubject(placeText(job), () => requestForJob(form, options));
    return checkJob(form, request, rules, nowMs);
  };
  const onOtherClasses = (form: ExpandedJob): readonly ExpandedJob[] =>
    form.unsetVariables?.tags === undefined
      ? []
      : classes
          .filter(({ tags }) => !tags.every((tag) => form.tags.includes(tag)))
          .map(({ tags }) => ({ ...form, tags: [...form.tags, ...tags] }));
  const first = check(job);
  const others = forms.flatMap((form) => [form, ...onOtherClasses(form)]).slice(1);
  if (others.length === 0) return first;
  const checks = [first, ...others.map(check)];
  const costOf = ({ terms }: JobCheck): number => terms.costMicros;
  const dearest = checks.reduce((most, each) => (costOf(each) > costOf(most) ? each : most));
  const rejected = checks.find(({ outcome }) => outcome === 'rejected');
  const unsure = checks.find(({ outcome }) => outcome === 'not sure');
  const rejects = unique(checks.flatMap((each) => each.rejects));
  const undecided = unique(checks.flatMap((each) => each.undecided));
  const watched = unique(checks.flatMap((each) => each.watched));
  const shared = { job, terms: dearest.terms, asks: dearest.asks, watched };
  if (checks.every(({ outcome }) => outcome === 'rejected'))
    return { ...first, ...shared, rejects, undecided };
  const needs = [
    ...new Set(forms.flatMap(({ unsetVariables = {} }) => unsetInField('tags', unsetVariables))),
  ];
  const { dependsOn = [] } = job;
  const ofSomeForms = rejects.map((violation) => {
    const { rule, mode } = violation;
    return { rule, mode, needs, against: [violation], dependsOn };
  });
  return {
    ...(rejected ?? unsure ?? first),
    ...shared,
    outcome: rejected === undefined && unsure === undefined ? 'ok' : 'not sure',
    rejects: [],
    undecided: [...undecided, ...ofSomeForms],
  };
}

const placeText = ({ place, definedAs }: ExpandedJob): string =>
  place === undefined ? definedAs : `${place.file}:${place.line}: ${definedAs}`;

const unique = <T extends object>(list: readonly T[]): readonly T[] => [
  ...new Map(list.map((each) => [JSON.stringify(each), each])).values(),
];

export interface RequestOptions {
  readonly place: RequestPlace;
  readonly variables: VariableAllowlist;
  readonly projectTimeoutSeconds?: number;
  /** GitLab's id of the job is not known: any whole number from 1. */
  readonly jobId: number;
}

export function requestForJob(job: ExpandedJob, options: RequestOptions): AdmissionRequest {
  const { environment, image, pullPolicies, dockerUser, kubernetesUser } = job;
  const { timeoutSeconds = options.projectTimeoutSeconds } = job;
  const raw = new Set(job.rawVariables);
  const values = valuesOf(job.variables, job.variables, raw);
  const { kept: visible, hidden } = allowedVariables(values, options.variables, raw);
  // Unset variables may come from settings of the project or group, which only GitLab knows.
  const settings = options.variables.compared.filter((name) => !Object.hasOwn(job.variables, name));
  const undecided = [...hidden, ...settings];
  return {
    ...options.place,
    jobId: options.jobId,
    jobName: job.name,
    jobStage: job.stage,
    jobTags: job.tags,
    ...withoutAbsent({ environment, image, pullPolicies, dockerUser, kubernetesUser, timeoutSeconds }),
    services: job.services.map(({ variables = {}, ...service }) => ({
      ...service,
      variables: allowedServiceVariables(valuesOf(variables, job.variables, raw)),
    })),
    variables: visible,
    ...(undecided.length > 0 && { hiddenVariables: undecided }),
  };
}

/** Variables may be written with each other; GitLab puts the values in before it asks, except into its `raw` ones. */
function valuesOf(variables: Variables, known: Variables, raw: ReadonlySet<string>): Variables {
  const expand = knownExpander(known, raw);
  const isRaw = (name: string): boolean => variables === known && raw.has(name);
  const entries = Object.entries(variables);
  return Object.fromEntries(entries.map(([name, value]) => [name, isRaw(name) ? value : expand(value)]));
}

/** Lists unset variables that a violation depends on, each as a request field. */
function unsetBehind({ reason }: Violation, job: ExpandedJob): readonly string[] {
  const unset = job.unsetVariables ?? {};
  switch (reason.code) {
    case 'IMAGE_NOT_ALLOWED':
    case 'TAG_NOT_ALLOWED':
      return isKnownImage(reason.image) ? [] : unsetInField(reason.service ? 'services' : 'image', unset);
    case 'CONTAINER_USER_NOT_ALLOWED':
      if (!reason.asked.includes('$')) return [];
      return unsetInField(reason.service === undefined ? 'image' : 'services', unset);
    case 'RESOURCE_CAP':
    case 'RESOURCE_INVALID':
      return unsetInValue(reason.variable, reason.service, job);
    case 'OVERWRITE_NOT_ALLOWED':
      return reason.why === 'pattern' ? unsetInValue(reason.variable, undefined, job) : [];
    case 'FIELD_MISSING':
      return unsetInField(reason.field, unset);
    default:
      return [];
  }
}

/** Lists variables that would decide a field that a rule reports missing although the file has it. */
const unsetInField = (field: string, unset: UnsetVariables): readonly string[] =>
  field === 'image' || field === 'services' || field === 'tags'
    ? (unset[field] ?? []).map(fieldOfVariable)
    : [];

function unsetInValue(variable: string, service: string | undefined, job: ExpandedJob): readonly string[] {
  const raw = new Set(job.rawVariables);
  const variables =
    service === undefined ? job.variables : job.services.find(({ name }) => name === service)?.variables;
  const value = variables?.[variable];
  if (value === undefined || (service === undefined && raw.has(variable))) return [];
  return unsetNames(value, job.variables, raw).map(fieldOfVariable);
}

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
export function resultOf(check: PipelineCheck): JobCheck['outcome'] {
  if (countOf(check, 'rejected') > 0) return 'rejected';
  return isWhole(check) && countOf(check, 'ok') === check.jobs.length ? 'ok' : 'not sure';
}

export const isWhole = ({ pipeline, jobs }: PipelineCheck): boolean =>
  pipeline.notRead.length === 0 && jobs.every(({ job }) => unreadBy(job).length === 0);

/** Unread parts that single jobs depend on, without those of the whole pipeline. */
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

export const countOf = ({ jobs }: PipelineCheck, outcome: JobCheck['outcome']): number =>
  jobs.filter((each) => each.outcome === outcome).length;

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
    .filter(({ outcome }) => outcome !== 'rejected')
    .flatMap(({ job: { stage }, asks }) => asks.map((ask) => ({ ...ask, stage })));
  const sum = (some: readonly LimitAsk[]): number => some.reduce((total, each) => total + each.asked, 0);
  return groupsOf(all, ({ counter }) => counterName(counter)).map((asks) => {
    const [{ stage: _, ...ask }] = asks;
    const perStage = isInFlight(ask.unit);
    const asked = perStage ? Math.max(...groupsOf(asks, ({ stage }) => stage).map(sum)) : sum(asks);
    const exceeds = ask.bound !== undefined && asked > ask.bound;
    return { ...ask, asked, jobs: asks.length, perStage, exceeds };
  });
}

/** `rejects now`: by a console or ledger alone, above all for used-up limits. */
type FindingKind = 'rejects' | 'rejects now' | 'unknown' | 'watched';

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
    const { outcome, rejects, undecided, watched, results } = check;
    type Rule = Pick<Finding, 'rule' | 'mode'>;
    const finding = (kind: FindingKind, { rule, mode }: Rule, text: string, message?: string): Finding => ({
      ...{ kind, rule, mode, text, message, check },
    });
    const textOf = ({ reason }: Violation): string => codedReasonText(reason, currency);
    const messageOf = ({ rule }: Rule): string | undefined => results.find(({ id }) => id === rule)?.message;
    const late = (outcome === 'rejected' ? [] : (now?.jobs[index]?.reasons ?? [])).filter(
      ({ rule, mode, code }) =>
        mode === 'enforce' && code !== 'FIELD_MISSING' && !undecided.some((each) => each.rule === rule),
    );
    return [
      ...rejects.map((each) => finding('rejects', each, textOf(each), messageOf(each))),
      ...late.map((each) => finding('rejects now', each, `[${each.code}] ${each.text}`)),
      ...undecided.map((each) => finding('unknown', each, undecidedText(each, currency))),
      ...watched.map((each) => finding('watched', each, textOf(each))),
    ];
  });
}

function undecidedText({ needs, against, dependsOn }: UndecidedRule, currency: string): string {
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
