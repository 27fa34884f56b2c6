import {
  type EvaluationRules,
  type RuleResult,
  ruleResults,
} from '../../../functions/answers/job/rule-results.ts';
import type { Terms } from '../../../policies/decision.ts';
import { evaluate } from '../../../policies/evaluate.ts';
import type { Mode } from '../../../policies/mode.ts';
import type { Violation } from '../../../policies/reason.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { type LimitAsk, limitAskOf } from '../evaluation/limit-ask.ts';
import { isToldByGitLab } from '../evaluation/missing-fields.ts';
import type { ExpandedJob } from '../pipeline/expanded-job.ts';
import { doubtsAbout, doubtsIn } from './unset-doubts.ts';

/** Check of one job. */
export interface JobCheck {
  readonly job: ExpandedJob;
  readonly terms: Terms;
  readonly results: readonly RuleResult[];
  /** `ok`: no rule is against it, and all that it rests on was read; what is left of its limits is not known here. */
  readonly verdict: 'rejected' | 'not sure' | 'ok';
  /** Mode `enforce`, for certain. */
  readonly rejects: readonly Violation[];
  /** Modes `shadow` and `warn`: recorded, the job runs. */
  readonly watched: readonly Violation[];
  /** Rules about which the file and the flags do not say enough. */
  readonly untold: readonly UndecidedRule[];
  readonly asks: readonly LimitAsk[];
}

export interface UndecidedRule {
  readonly rule: string;
  readonly mode: Mode;
  /** Fields of the request, e.g. `userId` or `variables.BASE`. */
  readonly needs: readonly string[];
  /** Violations, unless one of these fields exempts the job. */
  readonly against: readonly Violation[];
  /** Conditions of the job's own `rules:`, where only some of its forms are rejected; `needs` then are those of its tags. */
  readonly dependsOn?: readonly string[];
}

export function checkJob(
  job: ExpandedJob,
  request: AdmissionRequest,
  rules: EvaluationRules,
  nowMs: number,
): JobCheck {
  const results = ruleResults(request, rules, nowMs);
  const untold = results.flatMap((result) => untoldOf(result, job) ?? []);
  const certain = results.flatMap((result) => (isUnsure(result) ? [] : certainOf(result, job)));
  const rejects = certain.filter(({ mode }) => mode === 'enforce');
  const unsure = untold.some(({ mode }) => mode === 'enforce');
  return {
    job,
    terms: evaluate(request, { ...rules, nowMs }).terms,
    results,
    verdict: rejects.length > 0 ? 'rejected' : unsure || job.notRead !== undefined ? 'not sure' : 'ok',
    rejects,
    watched: certain.filter(({ mode, exempt }) => mode !== 'enforce' && exempt !== true),
    untold,
    asks: results.flatMap(({ claims }) => claims.filter(({ neverFits }) => !neverFits).map(limitAskOf)),
  };
}

/** Leaves out those that rest on a field missing here alone (GitLab or an unread file has it), or on an unknown variable. */
const certainOf = ({ violations }: RuleResult, job: ExpandedJob): readonly Violation[] =>
  violations.filter(
    (each) =>
      doubtsAbout(each, job).length === 0 &&
      (each.reason.code !== 'FIELD_MISSING' ||
        (job.notRead === undefined && !isToldByGitLab(each.reason.field))),
  );

/** The user may be exempt. */
const isUnsure = ({ unproven }: RuleResult): boolean => unproven.some(isToldByGitLab);

function untoldOf(result: RuleResult, job: ExpandedJob): UndecidedRule | undefined {
  const against = isUnsure(result) ? certainOf(result, job) : [];
  const fields = [...result.missing, ...(against.length > 0 ? result.unproven : [])];
  const needs = new Set([
    ...fields.filter(isToldByGitLab),
    ...fields.flatMap((field) => doubtsIn(field, job.unsetVariables ?? {})),
    ...result.violations.flatMap((violation) => doubtsAbout(violation, job)),
  ]);
  return needs.size === 0 ? undefined : { rule: result.id, mode: result.mode, needs: [...needs], against };
}
