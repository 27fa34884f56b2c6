import { type EvaluationContext, evaluate } from '../../../policies/evaluate.ts';
import { requestOfRecord, variablesLost } from '../../../policies/request/recorded.ts';
import { comparesVariables, readsVariables } from '../../../policies/variables/reads-variables.ts';
import type { Evaluated } from '../../core/admission/index.ts';
import type { JobRecord } from '../../core/ledger/index.ts';
import { type RuleResult, ruleResults } from './rule-results.ts';

/** A recorded job, evaluated by today's rules. */
export interface ReevaluatedJob extends Evaluated {
  readonly results: readonly RuleResult[];
  /** Rules that need data which was not kept. Their result is unknown, so they have no violations. */
  readonly unaskable: ReadonlySet<string>;
  /** Rules that need the user, whose id is removed later. */
  readonly needUser: ReadonlySet<string>;
}

/** Returns undefined if the record does not say what the rules looked at. */
export function askAgain(record: JobRecord, rules: EvaluationContext): ReevaluatedJob | undefined {
  const { asked, userPseudonym } = record.facts;
  if (asked === undefined) return undefined;
  const request = requestOfRecord(record.jobId, record.facts, asked);
  const results = ruleResults(request, rules, rules.nowMs);
  const lost = variablesLost(asked);
  const comparing = new Set(rules.policy.rules.filter(comparesVariables).map(({ id }) => id));
  const needVariables = results.filter(
    ({ id, kind, missing }) =>
      comparing.has(id) ||
      (lost && (readsVariables({ kind }) || missing.some((field) => field.includes('variables')))),
  );
  const needUser = results.filter(({ missing }) => userPseudonym !== undefined && missing.includes('userId'));
  const unaskable = new Set([...needVariables, ...needUser].map(({ id }) => id));
  const isKnown = ({ rule }: { readonly rule: string }): boolean => !unaskable.has(rule);
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
    results,
    unaskable,
    needUser: new Set(needUser.map(({ id }) => id)),
  };
}
