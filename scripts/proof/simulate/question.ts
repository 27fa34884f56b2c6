import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { PlannedJob } from './draw-jobs.ts';
import type { AskedJob } from './expected/asked-claims.ts';
import { runnerIdOf } from './simulated-gitlab.ts';
import type { Tree } from './tree.ts';

/** The router's question about a job, as the relay translates it. */
export function questionOf(job: PlannedJob, tree: Tree): AdmissionRequest {
  const { id, path, groupIds } = tree.placeOf(job);
  const [rootNamespaceId] = groupIds;
  const namespaceId = groupIds.at(-1);
  return {
    jobId: job.jobId,
    jobName: job.kind.name,
    pipelineId: job.pipelineId,
    projectId: id,
    projectPath: path,
    ...withoutAbsent({ namespaceId, rootNamespaceId }),
    runnerTags: [job.kind.runnerClass],
    runnerId: runnerIdOf(job),
    timeoutSeconds: job.kind.timeoutSeconds,
  };
}

/** The same job as the expectation knows it. */
export function askedJobOf(job: PlannedJob, tree: Tree): AskedJob {
  const { id, groupIds } = tree.placeOf(job);
  return {
    jobId: job.jobId,
    jobName: job.kind.name,
    projectId: id,
    groupId: groupIds.at(-1) ?? 0,
    runnerClass: job.kind.runnerClass,
    timeoutSeconds: job.kind.timeoutSeconds,
  };
}
