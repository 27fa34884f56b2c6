import { isRecord } from '../../../policies/document/reading.ts';
import { JobReader, type UnreadableJob } from './job-reader.ts';
import type { JobTruth } from './job-truth.ts';
import { withoutAbsent } from './without-absent.ts';

/** What the question says about the job, where the answer does not. */
export interface AskedFor {
  readonly projectId?: number;
  readonly runnerId?: number;
}

/**
 * Reads a job of the REST API, either from `GET /projects/:id/jobs/:job_id`, whose `project` has no id, or from `GET
 * /runners/:id/jobs`, which has no runner. Neither has the runner's tags: `tag_list` is what the job asked for.
 *
 * @see https://docs.gitlab.com/api/jobs/#get-a-single-job
 */
export function parseRestJob(body: unknown, asked: AskedFor): JobTruth | UnreadableJob {
  if (!isRecord(body)) return { problems: ['a job is not a JSON object'] };
  const read = new JobReader(body);
  const pipeline = read.object('pipeline');
  const projectId = asked.projectId ?? read.labelled('project').id('id') ?? pipeline.requiredId('project_id');
  const truth: JobTruth = {
    jobId: read.requiredId('id'),
    projectId,
    status: read.status('status'),
    ...withoutAbsent({
      projectPath: read.labelled('project').label('path_with_namespace'),
      jobName: read.label('name'),
      jobStage: read.label('stage'),
      pipelineId: pipeline.id('id'),
      userId: read.object('user').id('id'),
      ref: read.label('ref'),
      runnerId: read.object('runner').id('id') ?? asked.runnerId,
      createdAtMs: read.instantMs('created_at'),
      startedAtMs: read.instantMs('started_at'),
      finishedAtMs: read.instantMs('finished_at'),
      durationSeconds: read.seconds('duration'),
      failureReason: read.word('failure_reason'),
    }),
  };
  return read.problems.length > 0 ? { problems: read.problems } : truth;
}
