import type { AdmissionRequest } from '../../policies/request/request.ts';
import type { Places } from './draw-groups.ts';
import type { PlannedJob } from './draw-jobs.ts';
import { runnerIdOf } from './simulated-gitlab.ts';

/** The router's question about a job, as the relay translates it. */
export function questionOf(job: PlannedJob, { projects }: Places): AdmissionRequest {
  const project = projects[job.project];
  if (project === undefined) throw new RangeError(`job ${job.jobId} has no project`);
  const [rootNamespaceId, , namespaceId] = project.groupIds;
  return {
    jobId: job.jobId,
    jobName: job.kind.name,
    pipelineId: job.pipelineId,
    projectId: project.id,
    projectPath: project.path,
    namespaceId,
    rootNamespaceId,
    runnerTags: [job.kind.runnerClass],
    runnerId: runnerIdOf(job),
    timeoutSeconds: job.kind.timeoutSeconds,
  };
}
