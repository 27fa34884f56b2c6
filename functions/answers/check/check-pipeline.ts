/** The jobs of a pipeline, each decided as if it came now, without a trace in the books. */
import { evaluate } from '../../../policies/evaluate.ts';
import { disclosureFor } from '../../../policies/text/rejection-text.ts';
import {
  type CurrentDecision,
  countersAsked,
  decideNow,
  type Evaluated,
  pageText,
} from '../../core/admission/index.ts';
import { reservedClaims } from '../../core/ledger/index.ts';
import { askAgain } from '../job/asked-again.ts';
import { reasonsOf, ruleNowOf, waitOf } from '../job/decision-lines.ts';
import type { ViolationTextContext } from '../job/disclosed-violation.ts';
import { isTheirs } from '../job/explain-job.ts';
import { ruleResults } from '../job/rule-results.ts';
import type { ReadContext } from '../reading/reading.ts';
import { rulesNow } from '../reading/rules-now.ts';
import { type Scope, scopeOf, subjectLabelOf } from '../reading/scope.ts';
import type { Viewer } from '../reading/viewer.ts';
import { requestsAgain, requestsAsked } from './asked-requests.ts';
import { type EvaluatedJob, limitsLeft } from './limits-left.ts';
import type { AskedPipeline, CheckedJobRow, CheckedPipeline, PipelineAnswer } from './model.ts';

export const checkOf =
  (reading: ReadContext) =>
  async (asked: AskedPipeline, viewer: Viewer): Promise<PipelineAnswer> => {
    const { rules: inForce, estimatorOf } = await rulesNow(reading);
    const { policy, directory, limits, nowMs } = inForce;
    const scope = scopeOf(viewer.roles, directory);
    const { rerun } = asked;
    const [record] = rerun === undefined ? [] : await reading.ledger.readRecords([rerun]);
    if (rerun !== undefined && (record === undefined || !isTheirs(record, scope)))
      return { outcome: 'unknown' };
    const found =
      record === undefined ? requestsAsked(asked, viewer, scope, directory) : requestsAgain(record);
    if (found === undefined) return { outcome: record === undefined ? 'unknown' : 'unrecorded' };
    const { subject, projectId } = found;
    const rules = { ...inForce, estimator: await estimatorOf(projectId) };
    const again = record && askAgain(record, rules);
    const jobs = found.requests.map(({ asked: job, request }) => {
      const { estimateSeconds } = job;
      const using =
        estimateSeconds === undefined
          ? rules
          : { ...rules, estimator: { estimateSeconds: () => estimateSeconds } };
      const evaluation = again?.evaluation ?? evaluate(request, using);
      return { asked: job, request, evaluation, results: () => ruleResults(request, using, nowMs) };
    });
    const counters = await reading.counters.fresh(
      jobs.flatMap(({ evaluation }) => countersAsked(evaluation)),
    );
    const [first] = jobs;
    const disclosure =
      first === undefined ? 'none' : disclosureFor(first.evaluation.placement, policy.disclose);
    // The log of a job, and what it writes into a merge request, has other readers than its project.
    const told: Scope = viewer.roles.jobOfProjectId === undefined ? scope : { ...scope, sees: () => false };
    const tell = { scope: told, disclosure, currency: policy.currency };
    const rows = jobs.map((job) => {
      // Room that is kept for its retry is kept for the job that GitLab makes of it.
      const decision = decideNow(job, counters, nowMs, reservedClaims(record));
      const row = jobRow(job, decision, tell);
      if (jobs.length > 1) return row;
      const [refusal, ...more] = decision.violations;
      return {
        ...row,
        rules: job
          .results()
          .filter(({ id }) => again?.unaskable.has(id) !== true)
          .map((each) => ({
            ...{ id: each.id, kind: each.kind, mode: each.mode },
            now: ruleNowOf(each, decision, tell),
          })),
        ...(refusal && {
          text: pageText(
            {
              ...{ request: job.request, violations: [refusal, ...more], terms: job.evaluation.terms },
              ...{ decisionId: 'none, it was only asked about', nowMs, disclosure },
            },
            job.evaluation.facts.groupIds,
            policy,
          ),
        }),
      };
    });
    return {
      outcome: 'checked',
      pipeline: {
        currency: policy.currency,
        nowMs,
        place: { subject, path: subjectLabelOf(subject, directory) },
        jobs: rows,
        total: totalOf(rows),
        ...limitsLeft(jobs, counters, { limits, directory, nowMs, tell }),
      },
    };
  };

function jobRow(
  { asked, evaluation }: EvaluatedJob & Evaluated,
  decision: CurrentDecision,
  tell: ViolationTextContext,
): CheckedJobRow {
  const isUnsure = decision.violations.every(({ reason }) => reason.code === 'FIELD_MISSING');
  const { runnerClass, estimateSeconds, costMicros } = evaluation.terms;
  return {
    name: asked.name,
    parallel: asked.parallel ?? 1,
    outcome: decision.outcome === 'rejected' && isUnsure ? 'not sure' : decision.outcome,
    ...{ runnerClass, estimateSeconds, costMicros },
    ...waitOf(decision),
    reasons: reasonsOf(decision, tell),
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
