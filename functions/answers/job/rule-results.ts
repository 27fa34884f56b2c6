import type { CheckedJob, Job } from '../../../policies/checked-job.ts';
import type { LimitClaim } from '../../../policies/claim.ts';
import { type Evaluation, type EvaluationContext, evaluate } from '../../../policies/evaluate.ts';
import { jobOf } from '../../../policies/job.ts';
import { CONDITIONS, type Conditions } from '../../../policies/match/conditions.ts';
import { exemptionOf, failedCondition, matchOf } from '../../../policies/match/match.ts';
import type { Mode } from '../../../policies/mode.ts';
import { NO_CLASS } from '../../../policies/price.ts';
import type { Violation } from '../../../policies/reason.ts';
import { hasLostVariables, requestOfRecord } from '../../../policies/request/recorded.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { effectiveMode, rolloutModes } from '../../../policies/rollout.ts';
import type { Rule } from '../../../policies/rule.ts';
import { applies, Outcome } from '../../../policies/rule-index.ts';
import { comparesVariables, readsVariables } from '../../../policies/variables/reads-variables.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { JobRecord } from '../../core/ledger/ledger.ts';
import type { RuleNowRow } from './model.ts';

export type EvaluationRules = Omit<EvaluationContext, 'nowMs'>;

export interface RuleResult extends Pick<Rule, 'id' | 'kind' | 'mode' | 'message'> {
  /** `off`: by its mode or the rollout of the job's group. */
  readonly outcome: RuleNowRow['now']['outcome'];
  /** A condition as in the document with the job's value (`refs: main`), the reason of an exemption, or why it failed. */
  readonly detail?: string;
  readonly missing: readonly string[];
  /** Missing fields by which `not` or an exemption could still exclude the job. */
  readonly unproven: readonly string[];
  readonly violations: readonly Violation[];
  readonly claims: readonly LimitClaim[];
}

/** Evaluates every rule of the policy, in document order, for a request. The mode is that of the rule or a milder rollout. */
export function ruleResults(
  request: AdmissionRequest,
  rules: EvaluationRules,
  nowMs: number,
): readonly RuleResult[] {
  const context = { ...rules, nowMs };
  const evaluation = evaluate(request, context);
  const job = jobOf(request, { ...context, onEstimateFailed: () => {} });
  const modes = rolloutModes(job.placement, rules.limits);
  return rules.policy.rules.map((rule): RuleResult => {
    const mode = effectiveMode(rule, modes);
    const { id, kind, message } = rule;
    return {
      ...{ id, kind, mode, ...withoutAbsent({ message }), missing: [], unproven: [] },
      ...evaluateRule(rule, mode, job, evaluation),
      violations: evaluation.violations.filter((each) => each.rule === id),
      claims: evaluation.claims.filter((each) => each.rule === id && each.part === undefined),
    };
  });
}

type RuleOutcome = Pick<RuleResult, 'outcome' | 'detail'> & Partial<Pick<RuleResult, 'missing' | 'unproven'>>;

function evaluateRule(rule: Rule, mode: Mode, job: Job, evaluation: Evaluation): RuleOutcome {
  if (mode === 'off') return { outcome: 'off' };
  const error = evaluation.errors.find((each) => each.rule === rule.id);
  if (error !== undefined) return { outcome: 'failed', detail: error.cause };
  const match = matchOf(rule.match, job);
  if (match.matches === false) {
    const condition = failedCondition(rule.match, job) ?? '';
    const value = valueCompared(condition, job);
    // As the policy document spells it, `runner_classes`; `not.` stays in front.
    const key = condition.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return { outcome: 'not matched', detail: value === undefined ? key : `${key}: ${value}` };
  }
  const exempted = evaluation.exemptions.find((each) => each.rule === rule.id);
  if (exempted !== undefined) return { outcome: 'exempt', detail: exempted.reason };
  // As in `evaluate`: a security rule does not wait for the directory.
  if (match.matches === 'missing' && !applies(rule, mode, job, new Outcome()))
    return { outcome: 'missing', missing: [match.field] };
  const doubt = match.matches === true ? match.unproven : match.field;
  const exemption = exemptionOf(rule.exempt, job, job.nowMs).unproven;
  const { isUndecided, missing } = missingFor(rule, job);
  return {
    outcome: isUndecided ? 'missing' : 'matched',
    ...{ missing, unproven: [doubt, exemption].filter((field) => field !== undefined) },
  };
}

function missingFor(rule: Rule, job: Job) {
  if (!rule.stateless) {
    // Limits of groups are not checked for an unknown group.
    const isUndecided = job.placement.ancestors.length === 0;
    return { isUndecided, missing: isUndecided ? ['namespaceId'] : [] };
  }
  const reasons = rule.check(job);
  const fields = reasons.flatMap((reason) => (reason.code === 'FIELD_MISSING' ? [reason.field] : []));
  return {
    isUndecided: fields.length > 0 && fields.length === reasons.length,
    missing: [...new Set(fields)],
  };
}

/** Returns the job's value for a condition, for people; undefined if unknown. Never a variable's value. */
function valueCompared(condition: string, job: CheckedJob): string | undefined {
  const name = condition.replace(/^not\./, '') as keyof Conditions;
  return name in VALUES
    ? VALUES[name as keyof typeof VALUES](job)
    : text(job.request[CONDITIONS[name].field]);
}

const VALUES = {
  groups: ({ placement }) => placement.groupPath ?? text(placement.groupId),
  projects: ({ placement }) => placement.projectPath ?? text(placement.projectId),
  runnerClasses: ({ runnerClass: { name }, unclassed }) =>
    unclassed ? `${NO_CLASS}, taken as ${name}` : name,
  runnerTags: ({ request }) => tagsText(request.runnerTags ?? request.jobTags),
  users: ({ placement }) => text(placement.userId),
  protected: ({ request: { refProtected } }) =>
    refProtected === undefined ? undefined : refProtected ? 'yes' : 'no',
  environments: ({ request }) => request.environment ?? 'none',
  variables: () => undefined,
} as const satisfies { [Name in keyof Conditions]?: (job: CheckedJob) => string | undefined };

const text = (value: unknown): string | undefined =>
  typeof value === 'number' || typeof value === 'string' ? String(value) : undefined;

const tagsText = (tags: readonly string[] | undefined): string | undefined =>
  tags === undefined ? undefined : tags.length === 0 ? 'none' : tags.join(', ');

export type ReevaluatedJob = NonNullable<ReturnType<typeof reevaluate>>;

const NEEDS_USER = 'needs the user, whose id is not kept any more';
const NEEDS_VARIABLES = "needs variables' values, which are never kept";

/** Evaluates a recorded job again. Returns undefined if the record does not have the request. */
export function reevaluate(record: JobRecord, rules: EvaluationContext) {
  const { asked, userPseudonym } = record.facts;
  if (asked === undefined) return undefined;
  const request = requestOfRecord(record.jobId, record.facts, asked);
  const results = ruleResults(request, rules, rules.nowMs);
  const lost = hasLostVariables(asked);
  const comparing = new Set(rules.policy.rules.filter(comparesVariables).map(({ id }) => id));
  /** Rules that need data that was not stored, and why. Their result is unknown, so they have no violations. */
  const unknownRules = new Map<string, string>();
  for (const { id, kind, missing } of results) {
    const readsLost = readsVariables({ kind }) || missing.some((field) => field.includes('variables'));
    if (userPseudonym !== undefined && missing.includes('userId')) unknownRules.set(id, NEEDS_USER);
    else if (comparing.has(id) || (lost && readsLost)) unknownRules.set(id, NEEDS_VARIABLES);
  }
  const isKnown = ({ rule }: { readonly rule: string }): boolean => !unknownRules.has(rule);
  const { breakGlass, ...evaluation } = evaluate(request, rules);
  return {
    request,
    evaluation: {
      ...evaluation,
      violations: evaluation.violations.filter(isKnown),
      ...(breakGlass && {
        breakGlass: { ...breakGlass, violations: breakGlass.violations.filter(isKnown) },
      }),
    },
    ...{ results, unknownRules },
  };
}
