/** Computes remaining amounts of the limits of a pipeline's jobs, as far as they may be shown. Pure. */
import { counterName, type LimitClaim } from '../../../policies/claim.ts';
import type { Evaluation } from '../../../policies/evaluate.ts';
import { type LimitSet, limitAt, limitOfCounter, limitPeriod } from '../../../policies/limits/limits.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import { isInFlight } from '../../../policies/units/unit.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { ViolationTextContext } from '../job/disclosed-violation.ts';
import type { CountersByName } from '../reading/counters-now.ts';
import { subjectLabelOf } from '../reading/scope.ts';
import type { AskedPipelineJob, CheckedPipeline, LimitLeftRow } from './model.ts';

interface LeftContext {
  readonly limits: LimitSet;
  readonly directory: Directory;
  readonly nowMs: number;
  readonly tell: ViolationTextContext;
}

/** One of the jobs, evaluated by the rules and limits of now. */
export interface EvaluatedJob {
  readonly asked: AskedPipelineJob;
  readonly evaluation: Evaluation;
}

interface AskedSum {
  readonly claim: LimitClaim;
  readonly bound: number;
  readonly byStage: Map<string, number>;
  jobs: number;
}

/**
 * The group's disclosure decides about limits that the viewer does not see: none, the one with least left,
 * or all.
 */
export function limitsLeft(
  jobs: readonly EvaluatedJob[],
  counters: CountersByName,
  using: LeftContext,
): Pick<CheckedPipeline, 'limits' | 'limitsHidden'> {
  const rows = sumsAsked(jobs).map((sum) => leftRow(sum, counters, using));
  const { scope, disclosure } = using.tell;
  const hidden = rows.filter(({ subject }) => !scope.sees(subject));
  const least = hidden.toSorted((a, b) => shareLeft(a) - shareLeft(b))[0];
  const limits = rows.filter(
    (row) => disclosure === 'all' || scope.sees(row.subject) || (disclosure === 'binding' && row === least),
  );
  return { limits, limitsHidden: rows.length - limits.length };
}

/** Share left after the pipeline. */
const shareLeft = ({ left, asked, amount }: LimitLeftRow): number => (left - asked) / Math.max(1, amount);

/** By counter, the closest first. Jobs that a rule without counters rejects ask for nothing. */
function sumsAsked(jobs: readonly EvaluatedJob[]): readonly AskedSum[] {
  const sums = new Map<string, AskedSum>();
  for (const { asked, evaluation } of jobs) {
    if (evaluation.violations.some(({ mode }) => mode === 'enforce')) continue;
    const { stage = '', parallel = 1 } = asked;
    for (const claim of evaluation.claims) {
      const { bound, counter, part, neverFits, amount } = claim;
      if (bound === undefined || part !== undefined || neverFits) continue;
      const name = counterName(counter);
      const sum = sums.get(name) ?? { claim, bound, byStage: new Map(), jobs: 0 };
      sum.byStage.set(stage, (sum.byStage.get(stage) ?? 0) + amount * parallel);
      sum.jobs += parallel;
      sums.set(name, sum);
    }
  }
  return [...sums.values()].reverse();
}

function leftRow(
  { claim, bound, byStage, jobs }: AskedSum,
  counters: CountersByName,
  { limits, directory, nowMs }: LeftContext,
): LimitLeftRow {
  const { counter, unit, mode } = claim;
  const { committed = 0, fitted = 0 } = counters.get(counterName(counter)) ?? {};
  const amounts = [...byStage.values()];
  const asked = isInFlight(unit) ? Math.max(...amounts) : amounts.reduce((sum, each) => sum + each, 0);
  const left = bound - (mode === 'enforce' ? committed : fitted);
  const written = limitOfCounter(counter, limits, directory, nowMs);
  const period = written && limitPeriod(limitAt(written, nowMs), nowMs);
  const endMs = period?.endMs;
  return {
    subject: counter.subject,
    label: subjectLabelOf(counter.subject, directory),
    limit: counter.limit,
    ...{ unit, mode, asked, jobs, amount: bound, left },
    fits: asked <= left,
    ...withoutAbsent({
      periodLabel: period?.label,
      renewsAtMs: endMs !== undefined && Number.isFinite(endMs) ? endMs : undefined,
    }),
  };
}
