import { z } from 'zod';
import { isRecord } from '../../../policies/document/reading.ts';
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
const label = requiredLabel.optional().catch(undefined);
// -0 is 0.
const upTo = (max: number) => {
  const number = z.number().min(0).max(max);
  return number
    .transform((value) => value + 0)
    .optional()
    .catch(undefined);
};
const retries = upTo(RETRIES_MAX).transform((count) => (Number.isInteger(count) ? count : undefined));
const labels = z
  .array(z.unknown())
  .transform((found) => found.filter(isLabel).slice(0, LABELS_MAX))
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

type FieldName = keyof JobTruth;
/** Paths of a field, separated by spaces: the first that has a value counts, of times the first that can be read. */
type Fields = {
  readonly [Name in FieldName]: readonly [z.ZodType<JobTruth[Name]>, hook: string, rest: string];
};

/**
 * `commit.id` is the pipeline's id, despite its name, and `project_name` is not a path. In lists of a project `project` has no id, in
 * lists of a runner there is no runner. `tag_list` is what a job asked for. An environment is an object, or a text in some versions.
 * @see https://docs.gitlab.com/user/project/integrations/webhook_events/#job-events
 * @see https://docs.gitlab.com/api/jobs/#get-a-single-job
 */
const FIELDS: Fields = {
  jobId: [requiredId, 'build_id', 'id'],
  projectId: [requiredId, 'project_id', 'asked.projectId project.id pipeline.project_id'],
  status: [status, 'build_status', 'status'],
  projectPath: [label, 'project.path_with_namespace', 'project.path_with_namespace'],
  jobName: [label, 'build_name', 'name'],
  jobStage: [label, 'build_stage', 'stage'],
  pipelineId: [optionalId, 'pipeline_id commit.id', 'pipeline.id'],
  userId: [optionalId, 'user.id', 'user.id'],
  ref: [label, 'ref', 'ref'],
  runnerId: [optionalId, 'runner.id', 'runner.id asked.runnerId'],
  runnerTags: [labels, 'runner.tags', ''],
  environment: [label, 'environment.name environment', ''],
  createdAtMs: [instantMs, 'build_created_at_iso build_created_at', 'created_at'],
  startedAtMs: [instantMs, 'build_started_at_iso build_started_at', 'started_at'],
  finishedAtMs: [instantMs, 'build_finished_at_iso build_finished_at', 'finished_at'],
  durationSeconds: [seconds, 'build_duration', 'duration'],
  retryCount: [retries, 'retries_count', ''],
  queuedSeconds: [upTo(QUEUED_SECONDS_MAX), 'build_queued_duration', 'queued_duration'],
  failureReason: [word, 'build_failure_reason', 'failure_reason'],
};

const valueAt = (body: unknown, path: string): unknown =>
  path.split('.').reduce((value, name) => (isRecord(value) ? value[name] : undefined), body);

function readJob(body: unknown, from: 'hook' | 'rest'): JobTruth | UnreadableJob {
  const job: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [name, [schema, hook, rest]] of Object.entries(FIELDS)) {
    const paths = (from === 'hook' ? hook : rest).split(' ');
    const said = paths.filter((path) => valueAt(body, path) != null);
    const readable = said.find((path) => schema !== instantMs || isInstant(valueAt(body, path)));
    const path = readable ?? said[0] ?? paths[0] ?? '';
    const { success, data, error } = schema.safeParse(valueAt(body, path));
    if (!success) problems.push(`${path} ${error.issues[0]?.message}`);
    else if (data !== undefined) job[name] = data;
  }
  return problems.length > 0 ? { problems } : (job as unknown as JobTruth);
}

export const JOB_HOOK_EVENT = 'Job Hook';

export function parseJobHook(body: unknown): JobTruth | UnreadableJob {
  if (!isRecord(body)) return { problems: ['body is not a JSON object; expected a job event'] };
  if (body.object_kind === 'build') return readJob(body, 'hook');
  return { problems: ['object_kind is not "build"; send job events only to this address'] };
}

/** @param asked - what the answer may leave out */
export const restJob = (asked: { readonly projectId?: number; readonly runnerId?: number }) =>
  z.unknown().transform((body, context): JobTruth => {
    const job = readJob({ ...(isRecord(body) && body), asked }, 'rest');
    if (!('problems' in job)) return job;
    for (const problem of job.problems) context.addIssue({ code: 'custom', path: problem.split(' ', 1) });
    return z.NEVER;
  });
