import { isRecord } from '../../../policies/document/reading.ts';
import { type GitLabJob, JOB_STATUSES, type JobStatus } from './gitlab.ts';

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

function describeKind(value: unknown): string {
  if (value == null) return 'missing';
  return typeof value === 'number' ? String(value) : `of type ${typeof value}`;
}

interface Reader<Value> {
  /** Undefined: it cannot be read. */
  readonly read: (value: unknown) => Value | undefined;
  /**
   * For what decides and counts (ids, status, times, durations): any other value is a problem. Without it, the value is left out: a
   * name must not keep a job from being settled.
   */
  readonly expected?: string;
}

export const isId = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0;

export const isLabel = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= LABEL_CHARACTERS_MAX;

const id: Reader<number> = {
  read: (value) => (isId(value) ? value : undefined),
  expected: 'a whole number from 1 to 2^53 - 1',
};
const status: Reader<JobStatus> = {
  read: (value) => JOB_STATUSES.find((each) => each === value),
  expected: "one of GitLab's job statuses",
};
const instantMs: Reader<number> = {
  read: (value) => (typeof value === 'string' ? readGitLabInstant(value) : undefined),
  expected: 'a time like 2024-06-11T03:13:06Z or 2024-06-11 03:13:06 UTC',
};
/** Never below 0: a runner whose clock runs behind GitLab's must not earn money. */
const seconds: Reader<number> = {
  read: (value) => (typeof value === 'number' && Number.isFinite(value) ? Math.max(0, value) : undefined),
  expected: 'a number of seconds',
};
const word: Reader<string> = {
  read: (value) => (value === '' || isLabel(value) ? value : undefined),
  expected: 'a word',
};
const label: Reader<string> = { read: (value) => (isLabel(value) ? value : undefined) };
const labels: Reader<readonly string[]> = {
  read: (value) => (Array.isArray(value) ? value.filter(isLabel).slice(0, LABELS_MAX) : undefined),
};
const upTo = (max: number): Reader<number> => ({
  // -0 is 0.
  read: (value) => (typeof value === 'number' && value >= 0 && value <= max ? value + 0 : undefined),
});
const retries: Reader<number> = {
  read: (value) => (Number.isInteger(value) ? upTo(RETRIES_MAX).read(value) : undefined),
};

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

const REQUIRED: readonly string[] = ['jobId', 'projectId', 'status'] satisfies (keyof GitLabJob)[];
/** Paths of a field, separated by spaces: the first that has a value counts, of times the first that can be read. */
type Fields = {
  readonly [Name in keyof GitLabJob]-?: readonly [
    Reader<Exclude<GitLabJob[Name], undefined>>,
    hook: string,
    rest: string,
  ];
};

/**
 * `commit.id` is the pipeline's id, despite its name, and `project_name` is not a path. In lists of a project `project` has no id, in
 * lists of a runner there is no runner. `tag_list` is what a job asked for. An environment is an object, or a text in some versions.
 * @see https://docs.gitlab.com/user/project/integrations/webhook_events/#job-events
 * @see https://docs.gitlab.com/api/jobs/#get-a-single-job
 */
const FIELDS: Fields = {
  jobId: [id, 'build_id', 'id'],
  projectId: [id, 'project_id', 'asked.projectId project.id pipeline.project_id'],
  status: [status, 'build_status', 'status'],
  projectPath: [label, 'project.path_with_namespace', 'project.path_with_namespace'],
  jobName: [label, 'build_name', 'name'],
  jobStage: [label, 'build_stage', 'stage'],
  pipelineId: [id, 'pipeline_id commit.id', 'pipeline.id'],
  userId: [id, 'user.id', 'user.id'],
  ref: [label, 'ref', 'ref'],
  runnerId: [id, 'runner.id', 'runner.id asked.runnerId'],
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

function readJob(body: unknown, from: 'hook' | 'rest'): GitLabJob | UnreadableJob {
  const job: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [name, [{ read, expected }, hook, rest]] of Object.entries(FIELDS)) {
    const paths = (from === 'hook' ? hook : rest).split(' ');
    const present = paths.filter((path) => valueAt(body, path) != null);
    const readable = present.find(
      (path) => read !== instantMs.read || read(valueAt(body, path)) !== undefined,
    );
    const path = readable ?? present[0] ?? paths[0] ?? '';
    const value = read(valueAt(body, path));
    if (value !== undefined && value !== '') job[name] = value;
    else if (value === undefined && expected !== undefined && (present.length > 0 || REQUIRED.includes(name)))
      problems.push(`${path} is ${describeKind(valueAt(body, path))}; expected ${expected}`);
  }
  return problems.length > 0 ? { problems } : (job as unknown as GitLabJob);
}

export const JOB_HOOK_EVENT = 'Job Hook';

export function parseJobHook(body: unknown): GitLabJob | UnreadableJob {
  if (!isRecord(body)) return { problems: ['body is not a JSON object; expected a job event'] };
  if (body.object_kind === 'build') return readJob(body, 'hook');
  return { problems: ['object_kind is not "build"; send job events only to this address'] };
}

/** @param asked - what the answer may leave out */
export const parseRestJob = (
  body: unknown,
  asked: { readonly projectId?: number; readonly runnerId?: number },
): GitLabJob | UnreadableJob => readJob({ ...(isRecord(body) && body), asked }, 'rest');
