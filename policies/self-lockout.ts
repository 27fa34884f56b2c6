import type { Directory } from './directory.ts';
import { timeoutEstimator } from './estimate.ts';
import { evaluate } from './evaluate.ts';
import type { LimitSet } from './limits/limits.ts';
import type { Policy } from './policy.ts';
import type { Reason } from './reason.ts';
import type { AdmissionRequest } from './request/request.ts';

/** Lists what would reject the controller's own deploy job, so that no correction could be deployed; `[]`: nothing. */
export function selfLockout(
  policy: Policy,
  limits: LimitSet,
  directory: Directory | undefined,
  nowMs: number,
): readonly string[] {
  const using = { policy, limits, directory, estimator: timeoutEstimator, nowMs };
  return probes(policy, directory).flatMap(({ label, request }) =>
    evaluate(request, using)
      .violations.filter(({ mode }) => mode === 'enforce')
      .map(({ rule, reason }) => `rule ${rule} would reject ${label}: ${describeReason(reason)}`),
  );
}

function probes({ platform }: Policy, directory: Directory | undefined) {
  const probe = (label: string, place: Partial<AdmissionRequest>) => ({
    label,
    request: { jobId: 1, jobName: 'deploy', ...platform.job, ...place },
  });
  return [
    ...platform.projects.map((projectId) => {
      const project = directory?.projectById.get(projectId);
      return probe(`project ${project?.path ?? projectId}`, {
        projectId,
        ...(project && { projectPath: project.path, ...groupPlace(project.groupId, directory) }),
      });
    }),
    ...platform.groups.map((groupId) => {
      const path = directory?.groupById.get(groupId)?.path;
      const place = { ...groupPlace(groupId, directory), ...(path && { projectPath: `${path}/any` }) };
      return probe(`group ${path ?? groupId}`, place);
    }),
  ];
}

function groupPlace(
  groupId: number,
  directory: Directory | undefined,
): Pick<AdmissionRequest, 'namespaceId' | 'rootNamespaceId'> {
  const rootNamespaceId = directory?.chainById.get(groupId)?.[0]?.id;
  return { namespaceId: groupId, ...(rootNamespaceId !== undefined && { rootNamespaceId }) };
}

const describeReason = (reason: Reason): string =>
  reason.code === 'FIELD_MISSING'
    ? `it needs ${reason.field}, which platform.job does not name`
    : 'subjectLabel' in reason
      ? `${reason.code}, limit ${reason.limit} of ${reason.subjectLabel}`
      : reason.code;
