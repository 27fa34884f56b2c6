/** Decides about each job of a pipeline as if it came now, without a trace in the ledger. */
import { counterName, type LimitClaim } from '../../../policies/claim.ts';
import { type Directory, findGroup, findProject } from '../../../policies/directory.ts';
import { type Evaluation, evaluate } from '../../../policies/evaluate.ts';
import { limitAt, limitOfCounter, limitPeriod } from '../../../policies/limits/limits.ts';
import { requestOfRecord } from '../../../policies/request/recorded.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { disclosureFor } from '../../../policies/text/rejection-text.ts';
import { isInFlight } from '../../../policies/unit.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { pageText } from '../../core/admission/decide.ts';
import { countersAsked, decideNow } from '../../core/admission/judge.ts';
import type { JobRecord } from '../../core/ledger/ledger.ts';
import { reservedClaims } from '../../core/ledger/reservation.ts';
import { type Caller, type CallerView, type ReadContext, rulesNow } from '../reading/context.ts';
import type { CountersByName } from '../reading/counters-now.ts';
import { formatSubjectLabel, type Scope } from '../reading/scope.ts';
import { reasonsOf, ruleNowOf, type ViolationTextContext, waitOf } from './decision-lines.ts';
import type {
  CheckedJobRow,
  CheckedPipeline,
  LimitLeftRow,
  PipelineAnswer,
  RequestedPipeline,
  RequestedPipelineJob,
} from './model.ts';
import { isVisible } from './recorded-job.ts';
import { reevaluate, ruleResults } from './rule-results.ts';

export const checkOf =
  (reading: ReadContext) =>
  async (query: RequestedPipeline, caller: Caller): Promise<PipelineAnswer> => {
    const { view, rulesFor } = await rulesNow(reading, caller);
    const { directory, scope, nowMs } = view;
    const { policy } = reading;
    const { rerun } = query;
    const [record] = rerun === undefined ? [] : await reading.ledger.readRecords([rerun]);
    if (rerun !== undefined && (record === undefined || !isVisible(record, scope)))
      return { outcome: 'unknown' };
    const found = record ? recordedRequest(record) : newRequests(query, caller, scope, directory);
    if (found === undefined) return { outcome: record === undefined ? 'unknown' : 'unrecorded' };
    const { subject, projectId } = found;
    const rules = await rulesFor(projectId);
    const again = record && reevaluate(record, rules);
    const jobs = found.requests.map(({ asked: job, request }) => {
      const { estimateSeconds: given } = job;
      const context = given === undefined ? rules : { ...rules, estimator: { estimateSeconds: () => given } };
      const evaluation = again?.evaluation ?? evaluate(request, context);
      return { asked: job, request, evaluation, results: () => ruleResults(request, context, nowMs) };
    });
    const keys = jobs.flatMap(({ evaluation }) => countersAsked(evaluation));
    const counters = await reading.counters.fresh(keys);
    const [first] = jobs;
    const disclosure =
      first === undefined ? 'none' : disclosureFor(first.evaluation.placement, policy.disclose);
    // The log and the merge request notes of a CI job have other readers than its project.
    const shown: Scope = caller.roles.jobOfProjectId === undefined ? scope : { ...scope, sees: () => false };
    const using = { scope: shown, disclosure, currency: policy.currency };
    const rows = jobs.map((job): CheckedJobRow => {
      const { request, evaluation } = job;
      // Room reserved for the retry of the job is available to it.
      const decision = decideNow(job, counters, nowMs, reservedClaims(record));
      const isUnsure = decision.violations.every(({ reason }) => reason.code === 'FIELD_MISSING');
      const { runnerClass, estimateSeconds, costMicros } = evaluation.terms;
      const { name, parallel = 1 } = job.asked;
      const row: CheckedJobRow = {
        ...{ name, parallel, runnerClass, estimateSeconds, costMicros },
        outcome: decision.outcome === 'rejected' && isUnsure ? 'not sure' : decision.outcome,
        ...waitOf(decision),
        reasons: reasonsOf(decision, using),
      };
      if (jobs.length > 1) return row;
      const [refusal, ...more] = decision.violations;
      const ofPage = refusal && {
        ...{ request, violations: [refusal, ...more] as const, terms: evaluation.terms },
        ...{ decisionId: 'none, it was only asked about', nowMs, disclosure },
      };
      return {
        ...row,
        rules: job
          .results()
          .filter(({ id }) => again?.unknownRules.has(id) !== true)
          .map((each) => {
            const { id, kind, mode } = each;
            return { id, kind, mode, now: ruleNowOf(each, decision, using) };
          }),
        ...(ofPage && { text: pageText(ofPage, evaluation.facts.groupIds, policy) }),
      };
    });
    const sum = (figure: (row: CheckedJobRow) => number): number =>
      rows.reduce((total, row) => total + figure(row) * row.parallel, 0);
    return {
      outcome: 'checked',
      pipeline: {
        ...{ currency: policy.currency, nowMs, jobs: rows },
        place: { subject, path: formatSubjectLabel(subject, directory) },
        total: {
          jobs: sum(() => 1),
          costMicros: sum(({ costMicros }) => costMicros),
          rejected: sum(({ outcome }) => Number(outcome === 'rejected')),
          notSure: sum(({ outcome }) => Number(outcome === 'not sure')),
        },
        ...limitsLeft(jobs, counters, view, using),
      },
    };
  };

interface EvaluatedJob {
  readonly asked: RequestedPipelineJob;
  readonly evaluation: Evaluation;
}

function recordedRequest({ jobId, facts }: JobRecord): ReturnType<typeof newRequests> {
  if (facts.asked === undefined) return undefined;
  const request = requestOfRecord(jobId, facts, facts.asked);
  const { jobName = `job ${jobId}`, jobTags = [] } = request;
  const { projectId, groupId } = facts;
  return {
    subject: projectId === undefined ? `group/${groupId}` : `project/${projectId}`,
    projectId,
    requests: [{ asked: { name: jobName, tags: jobTags }, request }],
  };
}

/** Undefined: the project or group does not exist, or is not visible. */
function newRequests(query: RequestedPipeline, caller: Caller, scope: Scope, directory: Directory) {
  const place = placeOf(query, caller, scope, directory);
  if (place === undefined) return undefined;
  const { subject, ...ofPlace } = place;
  const { ref, refProtected, pipelineSource, userId, jobs = [] } = query;
  const ofPipeline = { ...ofPlace, ...withoutAbsent({ ref, refProtected, pipelineSource, userId }) };
  const requests = jobs.map((job, index): { asked: RequestedPipelineJob; request: AdmissionRequest } => {
    const { name, stage, tags, parallel: _, estimateSeconds: _estimate, ...fields } = job;
    const { variables = {}, services = [] } = fields;
    const ofJob = { ...fields, ...withoutAbsent({ jobStage: stage }), variables, services };
    return {
      asked: job,
      request: { ...ofJob, ...ofPipeline, jobId: index + 1, jobName: name, jobTags: tags },
    };
  });
  return { subject, projectId: ofPlace.projectId, requests };
}

type ProjectFields = Pick<AdmissionRequest, 'projectId' | 'projectPath'>;

/** Finds the jobs' place in the directory; the caller's own claims are not trusted. */
function placeOf(
  { project, group }: RequestedPipeline,
  { roles: { jobOfProjectId } }: Caller,
  scope: Scope,
  directory: Directory,
) {
  const placeIn = (subject: string, namespaceId: number, project: ProjectFields = {}) => {
    const rootNamespaceId = directory.chainById.get(namespaceId)?.[0]?.id;
    return { subject, namespaceId, ...withoutAbsent({ rootNamespaceId }), ...project };
  };
  if (project === undefined && jobOfProjectId === undefined) {
    const known = findGroup(group ?? 0, directory);
    if (known === undefined || !scope.seesGroup(known.id)) return undefined;
    return placeIn(`group/${known.id}`, known.id);
  }
  const known = findProject(project ?? jobOfProjectId, directory);
  const subject = `project/${known?.id}`;
  if (known === undefined || group !== undefined || !scope.sees(subject)) return undefined;
  return placeIn(subject, known.groupId, { projectId: known.id, projectPath: known.path });
}

/**
 * Computes the remaining amounts of the jobs' limits. The group's disclosure decides about limits that are not visible:
 * none, the one with least left, or all.
 */
function limitsLeft(
  jobs: readonly EvaluatedJob[],
  counters: CountersByName,
  view: CallerView,
  { scope, disclosure }: ViolationTextContext,
): Pick<CheckedPipeline, 'limits' | 'limitsHidden'> {
  const rows = claimedSums(jobs).map((sum) => leftRow(sum, counters, view));
  const hidden = rows.filter(({ subject }) => !scope.sees(subject));
  const shareLeft = ({ left, asked, amount }: LimitLeftRow): number => (left - asked) / Math.max(1, amount);
  const [least] = hidden.toSorted((a, b) => shareLeft(a) - shareLeft(b));
  const limits = rows.filter(
    (row) => disclosure === 'all' || scope.sees(row.subject) || (disclosure === 'binding' && row === least),
  );
  return { limits, limitsHidden: rows.length - limits.length };
}

const noClaims = (claim: LimitClaim, bound: number) => ({
  ...{ claim, bound, byStage: new Map<string, number>(), jobs: 0 },
});

/** Adds up claims by counter, the closest first. Jobs that a rule without counters rejects claim nothing. */
function claimedSums(jobs: readonly EvaluatedJob[]) {
  const sums = new Map<string, ReturnType<typeof noClaims>>();
  for (const { asked, evaluation } of jobs) {
    if (evaluation.violations.some(({ mode }) => mode === 'enforce')) continue;
    const { stage = '', parallel = 1 } = asked;
    for (const claim of evaluation.claims) {
      const { bound, counter, part, neverFits, amount } = claim;
      if (bound === undefined || part !== undefined || neverFits) continue;
      const name = counterName(counter);
      const sum = sums.get(name) ?? noClaims(claim, bound);
      sum.byStage.set(stage, (sum.byStage.get(stage) ?? 0) + amount * parallel);
      sum.jobs += parallel;
      sums.set(name, sum);
    }
  }
  return [...sums.values()].reverse();
}

function leftRow(
  { claim, bound, byStage, jobs }: ReturnType<typeof noClaims>,
  counters: CountersByName,
  { limits, directory, nowMs }: CallerView,
): LimitLeftRow {
  const { counter, unit, mode } = claim;
  const { committed = 0, fitted = 0 } = counters.get(counterName(counter)) ?? {};
  const amounts = [...byStage.values()];
  const asked = isInFlight(unit) ? Math.max(...amounts) : amounts.reduce((sum, each) => sum + each, 0);
  const left = bound - (mode === 'enforce' ? committed : fitted);
  const written = limitOfCounter(counter, limits, directory, nowMs);
  const { label: periodLabel, endMs } = (written && limitPeriod(limitAt(written, nowMs), nowMs)) ?? {};
  const { subject, limit } = counter;
  return {
    ...{ subject, label: formatSubjectLabel(subject, directory), limit },
    ...{ unit, mode, asked, jobs, amount: bound, left, fits: asked <= left },
    ...withoutAbsent({ periodLabel, renewsAtMs: Number.isFinite(endMs) ? endMs : undefined }),
  };
}
