import { z } from 'zod';
import { isRecord } from '../../../policies/document/reading.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { JOB_STATUSES, type JobStatus, type JobTruth } from './gitlab.ts';

/** GitLab could not have meant a job with this, or is a version whose words we do not know. */
export interface UnreadableJob {
  /** Each begins with the field; none quotes a text, which could be a secret that went astray. */
  readonly problems: readonly string[];
}

const LABEL_CHARACTERS_MAX = 4_096;
const LABELS_MAX = 200;
/** GitLab drops untaken jobs after a day, so a month is not a real queue time. */
const QUEUED_SECONDS_MAX = 31 * 24 * 3_600;
const RETRIES_MAX = 10_000;

function kindOf(value: unknown): string {
  if (value == null) return 'missing';
  return typeof value === 'number' ? String(value) : `of type ${typeof value}`;
}

/** For what decides and counts (ids, status, times, durations): a value of the wrong kind is a problem. */
const strict = <Value>(expected: string, isReadable: (value: unknown) => boolean) =>
  z.custom<Value>(isReadable, { error: ({ input }) => `is ${kindOf(input)}; expected ${expected}` });

const isLabel = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= LABEL_CHARACTERS_MAX;

export const requiredLabel = z.custom<string>(isLabel);
/** Lenient, as all that only reports count: a name must not keep a job from being settled. */
export const label = requiredLabel.optional().catch(undefined);
const upTo = (max: number) =>
  z
    .number()
    .min(0)
    .max(max)
    // -0 is 0.
    .transform((value) => value + 0)
    .optional()
    .catch(undefined);

export const requiredId = strict<number>(
  'a whole number from 1 to 2^53 - 1',
  (value) => Number.isSafeInteger(value) && Number(value) > 0,
);
export const optionalId = requiredId.nullish().transform((id) => id ?? undefined);
const status = strict<JobStatus>("one of GitLab's job statuses", (value) =>
  JOB_STATUSES.some((each) => each === value),
);
const isInstant = (value: unknown): boolean =>
  typeof value === 'string' && readGitLabInstant(value) !== undefined;
const instantMs = strict<string>('a time like 2024-06-11T03:13:06Z or 2024-06-11 03:13:06 UTC', isInstant)
  .nullish()
  .transform((written) => (written == null ? undefined : readGitLabInstant(written)));
/** Never below 0: a runner whose clock runs behind GitLab's must not earn money. */
const seconds = strict<number>('a number of seconds', Number.isFinite)
  .nullish()
  .transform((said) => (said == null ? undefined : Math.max(0, said)));
const word = strict<string>('a word', (value) => value === '' || isLabel(value))
  .nullish()
  .transform((said) => said || undefined);

const inside = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.preprocess((value) => (isRecord(value) ? value : {}), z.object(shape));

/** `2024-06-11 03:13:06 UTC`, as in job webhooks, and ISO 8601 as everywhere else: `2024-06-11T03:13:06.123+02:00`. */
const INSTANT = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(\.\d{1,9})? ?(?:(UTC|Z)|([+-]\d{2}):?(\d{2}))$/;

export function readGitLabInstant(text: string): number | undefined {
  const [, day = '', time = '', fraction = '', utc, hours, minutes] = INSTANT.exec(text) ?? [];
  const zone = utc === undefined ? `${hours}:${minutes}` : 'Z';
  const atMs = Date.parse(`${day}T${time}${fraction.slice(0, 4)}${zone}`);
  if (Number.isNaN(atMs)) return undefined;
  // `Date.parse` reads the 30th of February as a day in March.
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day) ? atMs : undefined;
}

export const JOB_HOOK_EVENT = 'Job Hook';

const withId = inside({ id: optionalId });

const HookJob = z
  .object({
    build_id: requiredId,
    project_id: requiredId,
    build_status: status,
    project: inside({ path_with_namespace: label }),
    build_name: label,
    build_stage: label,
    pipeline_id: optionalId,
    commit: withId,
    user: withId,
    ref: label,
    runner: inside({ id: optionalId, tags: z.array(z.unknown()).optional().catch(undefined) }),
    // An object in deliveries, a text in some versions of the documentation.
    environment: z.union([requiredLabel, inside({ name: label }).transform(({ name }) => name)]),
    build_created_at_iso: instantMs,
    build_started_at_iso: instantMs,
    build_finished_at_iso: instantMs,
    build_duration: seconds,
    retries_count: upTo(RETRIES_MAX),
    build_queued_duration: upTo(QUEUED_SECONDS_MAX),
    build_failure_reason: word,
  })
  .transform(
    (job): JobTruth => ({
      jobId: job.build_id,
      projectId: job.project_id,
      status: job.build_status,
      ...withoutAbsent({
        projectPath: job.project.path_with_namespace,
        jobName: job.build_name,
        jobStage: job.build_stage,
        pipelineId: job.pipeline_id ?? job.commit.id,
        userId: job.user.id,
        ref: job.ref,
        runnerId: job.runner.id,
        runnerTags: job.runner.tags?.filter(isLabel).slice(0, LABELS_MAX),
        environment: job.environment,
        createdAtMs: job.build_created_at_iso,
        startedAtMs: job.build_started_at_iso,
        finishedAtMs: job.build_finished_at_iso,
        durationSeconds: job.build_duration,
        retryCount: Number.isInteger(job.retries_count) ? job.retries_count : undefined,
        queuedSeconds: job.build_queued_duration,
        failureReason: job.build_failure_reason,
      }),
    }),
  );

/** Versions write the same instant in one of two fields, or in both: the first that is readable counts. */
function withInstants(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const named = ['build_created_at', 'build_started_at', 'build_finished_at'].map((name) => {
    const written = [body[`${name}_iso`], body[name]].filter((value) => value != null);
    return [`${name}_iso`, written.find(isInstant) ?? written[0]] as const;
  });
  return { ...body, ...Object.fromEntries(named) };
}

/**
 * `commit.id` is the pipeline's id, despite its name, and `project_name` is not a path: use `project.path_with_namespace`.
 * @see https://docs.gitlab.com/user/project/integrations/webhook_events/#job-events
 */
export function parseJobHook(body: unknown): JobTruth | UnreadableJob {
  if (!isRecord(body)) return { problems: ['body is not a JSON object; expected a job event'] };
  if (body.object_kind !== 'build') {
    return { problems: ['object_kind is not "build"; send job events only to this address'] };
  }
  const { success, data, error } = HookJob.safeParse(withInstants(body));
  if (success) return data;
  return { problems: error.issues.map(({ path, message }) => `${path.join('.')} ${message}`) };
}

/**
 * In lists of a project `project` has no id, in lists of a runner there is no runner. `tag_list` is what the job asked for.
 * @see https://docs.gitlab.com/api/jobs/#get-a-single-job
 */
export const restJob = (asked: { readonly projectId?: number; readonly runnerId?: number }) =>
  RestJob.transform((job, context): JobTruth => {
    const projectId = asked.projectId ?? job.project.id ?? job.pipeline.project_id;
    if (projectId === undefined) context.addIssue({ code: 'custom', path: ['pipeline', 'project_id'] });
    return {
      jobId: job.id,
      projectId: projectId ?? 0,
      status: job.status,
      ...withoutAbsent({
        projectPath: job.project.path_with_namespace,
        jobName: job.name,
        jobStage: job.stage,
        pipelineId: job.pipeline.id,
        userId: job.user.id,
        ref: job.ref,
        runnerId: job.runner.id ?? asked.runnerId,
        createdAtMs: job.created_at,
        startedAtMs: job.started_at,
        finishedAtMs: job.finished_at,
        durationSeconds: job.duration,
        queuedSeconds: job.queued_duration,
        failureReason: job.failure_reason,
      }),
    };
  });

const RestJob = z.object({
  id: requiredId,
  status,
  project: inside({ path_with_namespace: label, id: optionalId }),
  pipeline: inside({ id: optionalId, project_id: optionalId }),
  name: label,
  stage: label,
  user: withId,
  ref: label,
  runner: withId,
  created_at: instantMs,
  started_at: instantMs,
  finished_at: instantMs,
  duration: seconds,
  queued_duration: upTo(QUEUED_SECONDS_MAX),
  failure_reason: word,
});
