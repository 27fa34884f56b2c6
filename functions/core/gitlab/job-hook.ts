import { isRecord } from '../../../policies/document/reading.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { JobReader, QUEUED_SECONDS_MAX, RETRIES_MAX, type UnreadableJob } from './job-reader.ts';
import type { JobTruth } from './job-truth.ts';

/** The value of `X-Gitlab-Event` on deliveries that {@link parseJobHook} reads. */
export const JOB_HOOK_EVENT = 'Job Hook';

/**
 * Parses the JSON body of a job webhook. Fields for decisions and amounts must be readable; unreadable
 * labels are dropped. `commit.id` is the pipeline's id, despite its name, and `project_name` is not a path:
 * use `project.path_with_namespace`.
 *
 * @see https://docs.gitlab.com/user/project/integrations/webhook_events/#job-events
 */
export function parseJobHook(body: unknown): JobTruth | UnreadableJob {
  if (!isRecord(body)) return { problems: ['body is not a JSON object; expected a job event'] };
  const read = new JobReader(body);
  if (read.value('object_kind') !== 'build') {
    return { problems: ['object_kind is not "build"; send job events only to this address'] };
  }
  const runner = read.object('runner');
  const truth: JobTruth = {
    jobId: read.requiredId('build_id'),
    projectId: read.requiredId('project_id'),
    status: read.status('build_status'),
    ...withoutAbsent({
      projectPath: read.labelled('project').label('path_with_namespace'),
      jobName: read.label('build_name'),
      jobStage: read.label('build_stage'),
      pipelineId: read.id('pipeline_id') ?? read.object('commit').id('id'),
      userId: read.object('user').id('id'),
      ref: read.label('ref'),
      runnerId: runner.id('id'),
      runnerTags: runner.labels('tags'),
      // An object in deliveries, a text in some versions of the documentation.
      environment: read.label('environment') ?? read.labelled('environment').label('name'),
      createdAtMs: read.instantMs('build_created_at_iso', 'build_created_at'),
      startedAtMs: read.instantMs('build_started_at_iso', 'build_started_at'),
      finishedAtMs: read.instantMs('build_finished_at_iso', 'build_finished_at'),
      durationSeconds: read.seconds('build_duration'),
      retryCount: read.countUpTo('retries_count', RETRIES_MAX),
      queuedSeconds: read.secondsUpTo('build_queued_duration', QUEUED_SECONDS_MAX),
      failureReason: read.word('build_failure_reason'),
    }),
  };
  return read.problems.length > 0 ? { problems: read.problems } : truth;
}
