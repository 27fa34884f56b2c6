import { isRecord } from '../../../policies/document/reading.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { JOB_STATUSES, type JobStatus, type JobTruth } from './gitlab.ts';

/** GitLab could not have meant a job with this, or is a version whose words we do not know. */
export interface UnreadableJob {
  /** Each begins with the field; none quotes a text, which could be a secret that went astray. */
  readonly problems: readonly string[];
}

/** Longer than any name, path or ref GitLab stores. */
const LABEL_CHARACTERS_MAX = 4_096;
/** GitLab allows a runner 50. */
const LABELS_MAX = 200;
/** GitLab drops untaken jobs after a day, so a month is not a real queue time. */
export const QUEUED_SECONDS_MAX = 31 * 24 * 3_600;
/** By hand a job can be retried any number of times. */
const RETRIES_MAX = 10_000;

/**
 * Reads the fields of one job as GitLab sends it. Strict about what decides and counts (ids, status, times, duration,
 * failure reason): a value of the wrong kind is a problem. Lenient about labels and about what reports alone count: what cannot
 * be meant is left out, because a name must not keep a job from being settled. `null` and absent are the same everywhere.
 */
export class JobReader {
  readonly problems: string[];
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #path: string;

  constructor(fields: Readonly<Record<string, unknown>>, path = '', problems: string[] = []) {
    this.#fields = fields;
    this.#path = path;
    this.problems = problems;
  }

  /** Only own fields count; `null` reads as absent. */
  value(name: string): unknown {
    return Object.hasOwn(this.#fields, name) ? (this.#fields[name] ?? undefined) : undefined;
  }

  id(name: string): number | undefined {
    const value = this.value(name);
    if (value === undefined || isId(value)) return value;
    return this.#refuse(name, value, 'a whole number from 1 to 2^53 - 1');
  }

  /** 0 stands in for an id that is missing, which is a problem. */
  requiredId(name: string): number {
    if (this.value(name) === undefined) this.#refuse(name, undefined, 'a whole number');
    return this.id(name) ?? 0;
  }

  /** `created` stands in for a status that is missing or unknown, which is a problem. */
  status(name: string): JobStatus {
    const value = this.value(name);
    const known = JOB_STATUSES.find((status) => status === value);
    if (known === undefined) this.#refuse(name, value, "one of GitLab's job statuses");
    return known ?? 'created';
  }

  /** The first of these fields that is there and readable, as Unix ms: versions write the same instant in several. */
  instantMs(...names: readonly string[]): number | undefined {
    const there = names.filter((name) => this.value(name) !== undefined);
    for (const name of there) {
      const value = this.value(name);
      const atMs = typeof value === 'string' ? readGitLabInstant(value) : undefined;
      if (atMs !== undefined) return atMs;
    }
    const [first] = there;
    return first === undefined
      ? undefined
      : this.#refuse(first, this.value(first), 'a time like 2024-06-11T03:13:06Z or 2024-06-11 03:13:06 UTC');
  }

  /** Never below 0: a runner whose clock runs behind GitLab's must not earn money. */
  seconds(name: string): number | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isFinite(value)) return Math.max(0, value);
    return this.#refuse(name, value, 'a number of seconds');
  }

  /** Lenient; what is left out is unknown, and never 0. */
  upTo(max: number, name: string): number | undefined {
    const value = this.value(name);
    return typeof value === 'number' && value >= 0 && value <= max ? value + 0 : undefined;
  }

  word(name: string): string | undefined {
    const value = this.value(name);
    if (value === undefined || value === '') return undefined;
    return isLabel(value) ? value : this.#refuse(name, value, 'a word');
  }

  label(name: string): string | undefined {
    const value = this.value(name);
    return isLabel(value) ? value : undefined;
  }

  labels(name: string): readonly string[] | undefined {
    const value = this.value(name);
    return Array.isArray(value) ? value.filter(isLabel).slice(0, LABELS_MAX) : undefined;
  }

  /** An object inside; anything else reads as one without fields. */
  object(name: string): JobReader {
    const value = this.value(name);
    return new JobReader(isRecord(value) ? value : {}, `${this.#path}${name}.`, this.problems);
  }

  #refuse(name: string, value: unknown, expected: string): undefined {
    this.problems.push(`${this.#path}${name} is ${kindOf(value)}; expected ${expected}`);
    return undefined;
  }
}

const isId = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0;

const isLabel = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= LABEL_CHARACTERS_MAX;

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  return typeof value === 'number' ? String(value) : `of type ${typeof value}`;
}

/** `2024-06-11 03:13:06 UTC`, as in job webhooks, and ISO 8601 as everywhere else: `2024-06-11T03:13:06.123+02:00`. */
const INSTANT = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(\.\d{1,9})? ?(?:(UTC|Z)|([+-]\d{2}):?(\d{2}))$/;

/** Reads a point in time as GitLab writes it, as Unix ms. Undefined for what no calendar or clock shows. */
export function readGitLabInstant(text: string): number | undefined {
  const [, day = '', time = '', fraction = '', utc, hours, minutes] = INSTANT.exec(text) ?? [];
  const zone = utc === undefined ? `${hours}:${minutes}` : 'Z';
  const atMs = Date.parse(`${day}T${time}${fraction.slice(0, 4)}${zone}`);
  if (Number.isNaN(atMs)) return undefined;
  // `Date.parse` reads the 30th of February as a day in March.
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day) ? atMs : undefined;
}

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
  const retries = read.upTo(RETRIES_MAX, 'retries_count');
  const truth: JobTruth = {
    jobId: read.requiredId('build_id'),
    projectId: read.requiredId('project_id'),
    status: read.status('build_status'),
    ...withoutAbsent({
      projectPath: read.object('project').label('path_with_namespace'),
      jobName: read.label('build_name'),
      jobStage: read.label('build_stage'),
      pipelineId: read.id('pipeline_id') ?? read.object('commit').id('id'),
      userId: read.object('user').id('id'),
      ref: read.label('ref'),
      runnerId: runner.id('id'),
      runnerTags: runner.labels('tags'),
      // An object in deliveries, a text in some versions of the documentation.
      environment: read.label('environment') ?? read.object('environment').label('name'),
      createdAtMs: read.instantMs('build_created_at_iso', 'build_created_at'),
      startedAtMs: read.instantMs('build_started_at_iso', 'build_started_at'),
      finishedAtMs: read.instantMs('build_finished_at_iso', 'build_finished_at'),
      durationSeconds: read.seconds('build_duration'),
      retryCount: Number.isInteger(retries) ? retries : undefined,
      queuedSeconds: read.upTo(QUEUED_SECONDS_MAX, 'build_queued_duration'),
      failureReason: read.word('build_failure_reason'),
    }),
  };
  return read.problems.length > 0 ? { problems: read.problems } : truth;
}
