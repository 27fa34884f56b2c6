/** The jobs of a pipeline, each decided as if it came now, without a trace in the books. */
import { counterName } from '../../../policies/claim.ts';
import { historyEstimator } from '../../../policies/estimate/history-estimator.ts';
import { evaluate } from '../../../policies/evaluate.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { disclosureFor } from '../../../policies/text/rejection-text.ts';
import { toHoldAsk } from '../../core/admission/index.ts';
import { type Counter, newJob, weigh } from '../../core/ledger/index.ts';
import { askAgain, countersAsked } from '../job/asked-again.ts';
import { disclosedViolation, type ViolationTextContext } from '../job/disclosed-violation.ts';
import { isTheirs } from '../job/explain-job.ts';
import type { ReadContext } from '../reading/reading.ts';
import { NOWHERE, type Scope, scopeOf, subjectLabelOf } from '../reading/scope.ts';
import type { Viewer } from '../reading/viewer.ts';
import { requestsAgain, requestsAsked } from './asked-requests.ts';
import { type EvaluatedJob, limitsLeft } from './limits-left.ts';
import type { AskedPipeline, CheckedJobRow, CheckedPipeline, PipelineAnswer } from './model.ts';

export const checkOf =
  (reading: ReadContext) =>
  async (asked: AskedPipeline, viewer: Viewer): Promise<PipelineAnswer> => {
    const [{ limits }, places = NOWHERE] = await Promise.all([reading.limits(), reading.places()]);
    const { directory } = places;
    const { policy, clock } = reading;
    const scope = scopeOf(viewer.roles, directory);
    const { rerun } = asked;
    const [record] = rerun === undefined ? [] : await reading.ledger.readRecords([rerun]);
    if (rerun !== undefined && (record === undefined || !isTheirs(record, scope)))
      return { outcome: 'unknown' };
    const found =
      record === undefined ? requestsAsked(asked, viewer, scope, directory) : requestsAgain(record);
    if (found === undefined) return { outcome: record === undefined ? 'unknown' : 'unrecorded' };
    const { subject, projectId } = found;
    const history =
      projectId === undefined ? undefined : (await reading.usage.readEstimates([projectId]))[0]?.history;
    const nowMs = clock.nowMs();
    const rules = { policy, limits, directory, estimator: historyEstimator(() => history) };
    const unaskable = record && askAgain(record, rules, nowMs)?.unaskable;
    const evaluated = found.requests.map(({ asked: job, request }) => {
      const { estimateSeconds } = job;
      const estimator =
        estimateSeconds === undefined ? rules.estimator : { estimateSeconds: () => estimateSeconds };
      const evaluation = evaluate(request, { ...rules, estimator, nowMs });
      // What nobody kept cannot be held against it.
      const violations = evaluation.violations.filter(({ rule }) => unaskable?.has(rule) !== true);
      return { asked: job, request, evaluation: { ...evaluation, violations } };
    });
    const counters = await reading.counters.fresh(
      evaluated.flatMap(({ evaluation }) => countersAsked(evaluation.claims)),
    );
    const [first] = evaluated;
    const disclosure =
      first === undefined ? 'none' : disclosureFor(first.evaluation.placement, policy.disclose);
    // The log of a job, and what it writes into a merge request, has other readers than its project.
    const told: Scope = viewer.roles.jobOfProjectId === undefined ? scope : { ...scope, sees: () => false };
    const tell = { scope: told, disclosure, currency: policy.currency };
    const known = new Map([...counters].map(([name, counter]) => [name, seenOf(counter)]));
    for (const { evaluation } of evaluated)
      for (const key of countersAsked(evaluation.claims))
        if (!known.has(counterName(key))) known.set(counterName(key), seenOf(undefined));
    const jobs = evaluated.map((each) => jobRow(each, known, tell));
    const left = limitsLeft(evaluated, counters, { limits, directory, nowMs, tell });
    return {
      outcome: 'checked',
      pipeline: {
        currency: policy.currency,
        nowMs,
        place: { subject, path: subjectLabelOf(subject, directory) },
        jobs,
        total: totalOf(jobs),
        ...left,
      },
    };
  };

const seenOf = (counter: Counter | undefined) => ({
  committed: counter?.committed ?? 0,
  fitted: counter?.fitted ?? 0,
  settled: counter?.settled ?? 0,
});

/** The ledger's own weighing decides. */
function jobRow(
  { asked, request, evaluation }: EvaluatedJob & { readonly request: AdmissionRequest },
  known: Parameters<typeof weigh>[1],
  tell: ViolationTextContext,
): CheckedJobRow {
  const [verdict] = weigh([newJob(toHoldAsk({ request, evaluation }))], known).verdicts;
  const rejecting = verdict?.violations ?? [];
  const isUnsure = rejecting.every(({ reason }) => reason.code === 'FIELD_MISSING');
  const { runnerClass, estimateSeconds, costMicros } = evaluation.terms;
  return {
    name: asked.name,
    parallel: asked.parallel ?? 1,
    outcome: rejecting.length === 0 ? 'admitted' : isUnsure ? 'not sure' : 'rejected',
    ...{ runnerClass, estimateSeconds, costMicros },
    reasons: [...rejecting, ...(verdict?.shadow ?? []).filter(({ exempt }) => exempt !== true)].map(
      (each) => ({
        rule: each.rule,
        ...disclosedViolation(each, tell),
      }),
    ),
  };
}

function totalOf(rows: readonly CheckedJobRow[]): CheckedPipeline['total'] {
  const sum = (of: (row: CheckedJobRow) => number): number =>
    rows.reduce((total, row) => total + of(row) * row.parallel, 0);
  return {
    jobs: sum(() => 1),
    costMicros: sum(({ costMicros }) => costMicros),
    rejected: sum(({ outcome }) => (outcome === 'rejected' ? 1 : 0)),
    notSure: sum(({ outcome }) => (outcome === 'not sure' ? 1 : 0)),
  };
}
