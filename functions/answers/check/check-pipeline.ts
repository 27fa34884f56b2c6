/** The jobs of a pipeline, each decided as if it came now, without a trace in the books. */
import { counterName } from '../../../policies/claim.ts';
import { historyEstimator } from '../../../policies/estimate/history-estimator.ts';
import { evaluate } from '../../../policies/evaluate.ts';
import { type Directory, pathKey } from '../../../policies/place/directory.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { disclosureFor } from '../../../policies/text/rejection-text.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { toHoldAsk } from '../../core/admission/index.ts';
import { type Counter, newJob, weigh } from '../../core/ledger/index.ts';
import { countersAsked } from '../job/asked-again.ts';
import { disclosedViolation, type ViolationTextContext } from '../job/disclosed-violation.ts';
import type { ReadContext } from '../reading/reading.ts';
import { NOWHERE, type Scope, scopeOf, subjectLabelOf } from '../reading/scope.ts';
import type { Viewer } from '../reading/viewer.ts';
import { type EvaluatedJob, limitsLeft } from './limits-left.ts';
import type {
  AskedPipeline,
  AskedPipelineJob,
  CheckedJobRow,
  CheckedPipeline,
  PipelineAnswer,
} from './model.ts';

interface AskedPlace {
  readonly subject: string;
  readonly request: Pick<AdmissionRequest, 'projectId' | 'projectPath' | 'namespaceId' | 'rootNamespaceId'>;
}

export const checkOf =
  (reading: ReadContext) =>
  async (asked: AskedPipeline, viewer: Viewer): Promise<PipelineAnswer> => {
    const [{ limits }, places = NOWHERE] = await Promise.all([reading.limits(), reading.places()]);
    const { directory } = places;
    const { policy, clock } = reading;
    const scope = scopeOf(viewer.roles, directory);
    const place = placeAsked(asked, viewer, scope, directory);
    if (place === undefined) return { outcome: 'unknown' };
    const { projectId } = place.request;
    const history =
      projectId === undefined ? undefined : (await reading.usage.readEstimates([projectId]))[0]?.history;
    const nowMs = clock.nowMs();
    const using = { policy, limits, directory, estimator: historyEstimator(() => history), nowMs };
    const evaluated = asked.jobs.map((job, index) => {
      const request = requestOf(job, asked, place, index + 1);
      return { asked: job, request, evaluation: evaluate(request, using) };
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
        place: { subject: place.subject, path: subjectLabelOf(place.subject, directory) },
        jobs,
        total: totalOf(jobs),
        ...left,
      },
    };
  };

/** Where the jobs stand, by the directory: what a caller says of it is only looked up. */
function placeAsked(
  { project, group }: AskedPipeline,
  { roles: { jobOfProjectId } }: Viewer,
  scope: Scope,
  directory: Directory,
): AskedPlace | undefined {
  if (project === undefined && jobOfProjectId === undefined) return groupAsked(group, scope, directory);
  const known =
    typeof project === 'string'
      ? directory.projectByPath.get(pathKey(project))
      : directory.projectById.get(project ?? jobOfProjectId ?? 0);
  const subject = `project/${known?.id}`;
  if (known === undefined || group !== undefined || !scope.sees(subject)) return undefined;
  const { id: projectId, path: projectPath, groupId } = known;
  return { subject, request: { projectId, projectPath, ...groupOf(groupId, directory) } };
}

function groupAsked(
  group: AskedPipeline['group'],
  scope: Scope,
  directory: Directory,
): AskedPlace | undefined {
  const known =
    typeof group === 'string'
      ? directory.groupByPath.get(pathKey(group))
      : directory.groupById.get(group ?? 0);
  if (known === undefined || !scope.seesGroup(known.id)) return undefined;
  return { subject: `group/${known.id}`, request: groupOf(known.id, directory) };
}

const groupOf = (namespaceId: number, { chainById }: Directory) => ({
  namespaceId,
  ...withoutAbsent({ rootNamespaceId: chainById.get(namespaceId)?.[0]?.id }),
});

function requestOf(
  { name, stage, tags, parallel: _, variables = {}, services = [], ...job }: AskedPipelineJob,
  { ref, refProtected, pipelineSource, userId }: AskedPipeline,
  place: AskedPlace,
  jobId: number,
): AdmissionRequest {
  return {
    ...job,
    ...place.request,
    ...withoutAbsent({ ref, refProtected, pipelineSource, userId, jobStage: stage }),
    jobId,
    jobName: name,
    jobTags: tags,
    variables,
    services,
  };
}

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
