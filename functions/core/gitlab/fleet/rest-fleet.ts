import { z } from 'zod';
import { withoutAbsent } from '../../../../policies/without-absent.ts';
import { GitLabError } from '../gitlab.ts';
import { readGitLabInstant } from '../job-reader.ts';
import { checkBaseUrl, pageEnd, readFound, readList } from '../rest-answers.ts';
import { type RestCallDeps, restCall } from '../rest-call.ts';
import { restChange } from '../rest-change.ts';
import { pageQuery } from '../rest-pages.ts';
import {
  type CreatedRunner,
  type FleetGitLab,
  type FleetRunner,
  type ListedRunner,
  type NewRunner,
  RUNNER_TYPES,
  type RunnerManager,
} from './fleet.ts';

/** A change is sent once; the caller checks its result. */
const CHANGE_TIMEOUT_MS = 10_000;
/** As GitLab bounds them; longer texts were not written by GitLab. */
const TEXT_CHARACTERS_MAX = 4_096;
const LIST_MAX = 10_000;

const id = z.int().positive();
const text = z.string().max(TEXT_CHARACTERS_MAX);
/** GitLab's instants; one that no calendar shows reads as absent. */
const instantMs = text.transform((written) => readGitLabInstant(written)).nullish();
const version = text.transform((written) => (written === '' ? undefined : written)).nullish();

const listedFields = {
  id,
  description: text.nullish(),
  runner_type: z.enum(RUNNER_TYPES),
  paused: z.boolean(),
  status: text,
};
const ListedAnswer = z.object(listedFields);

const RunnerAnswer = z.object({
  ...listedFields,
  tag_list: z.array(text).max(LIST_MAX),
  run_untagged: z.boolean().nullish(),
  locked: z.boolean().nullish(),
  access_level: text,
  maximum_timeout: z.int().positive().nullish(),
  maintenance_note: text.nullish(),
  contacted_at: instantMs,
  created_by: z.object({ id }).nullish(),
  groups: z.array(z.object({ id })).nullish(),
  projects: z.array(z.object({ id })).nullish(),
});

const ManagerAnswer = z.object({
  system_id: text,
  version,
  platform: version,
  architecture: version,
  contacted_at: instantMs,
  status: text,
});

const CreatedAnswer = z.object({ id, token: z.string().regex(/^[\x21-\x7e]+$/) });

/**
 * Reads runners through GitLab's REST API with a read-only token.
 *
 * @throws {Error} if `baseUrl` is not a plain http or https address.
 * @see https://docs.gitlab.com/api/runners/
 */
export function createFleetReader(deps: RestCallDeps): Omit<FleetGitLab, 'create' | 'pause'> {
  checkBaseUrl(deps.baseUrl);
  const call = (path: string, query: URLSearchParams) => restCall(path, query, deps);

  return {
    async listed({ page }) {
      const path = '/runners/all';
      const answer = await call(path, pageQuery({}, page));
      const entries = readList(path, answer);
      const runners = entries.flatMap((entry) => parsed(ListedAnswer, entry, listedOf) ?? []);
      return { runners, ...pageEnd(entries.length - runners.length, answer.headers) };
    },

    async runner(runnerId) {
      const path = `/runners/${runnerId}`;
      const answer = await call(path, new URLSearchParams());
      if (answer.status === 404) return undefined;
      return required(path, RunnerAnswer, readFound(path, answer), runnerOf);
    },

    async managers(runnerId) {
      const path = `/runners/${runnerId}/managers`;
      const answer = await call(path, new URLSearchParams());
      const entries = readList(path, answer);
      const managers = entries.flatMap((entry) => parsed(ManagerAnswer, entry, managerOf) ?? []);
      const unreadable = entries.length - managers.length;
      return { managers, ...(unreadable > 0 && { unreadable }) };
    },
  };
}

/** The reader, and the two changes. @throws as {@link createFleetReader} */
export const createFleet = (deps: RestCallDeps): FleetGitLab => ({
  ...createFleetReader(deps),

  async create(runner): Promise<CreatedRunner> {
    const path = '/user/runners';
    const { status, body } = await restChange('POST', path, creationOf(runner), CHANGE_TIMEOUT_MS, deps);
    const read = CreatedAnswer.safeParse(body);
    if (status === 201 && read.success) return read.data;
    throw new GitLabError(
      'gitlab_unreadable',
      `POST ${path}: GitLab answered ${status} and told no new runner`,
    );
  },

  async pause(runnerId) {
    const path = `/runners/${runnerId}`;
    const { status, body } = await restChange('PUT', path, { paused: true }, CHANGE_TIMEOUT_MS, deps);
    if (status === 200 && z.object({ paused: z.literal(true) }).safeParse(body).success) return;
    throw new GitLabError(
      'gitlab_unreadable',
      `PUT ${path}: GitLab answered ${status}, and it is not paused`,
    );
  },
});

function parsed<Answer, Value>(
  schema: z.ZodType<Answer>,
  entry: unknown,
  toValue: (answer: Answer) => Value,
): Value | undefined {
  const read = schema.safeParse(entry);
  return read.success ? toValue(read.data) : undefined;
}

function required<Answer, Value>(
  path: string,
  schema: z.ZodType<Answer>,
  body: unknown,
  toValue: (answer: Answer) => Value,
): Value {
  const read = schema.safeParse(body);
  if (read.success) return toValue(read.data);
  // Which fields, never what is in them.
  const fields = [...new Set(read.error.issues.map((issue) => issue.path.join('.') || 'the answer'))];
  throw new GitLabError('gitlab_unreadable', `GET ${path}: not as documented: ${fields.join(', ')}`);
}

const listedOf = (answer: z.infer<typeof ListedAnswer>): ListedRunner => ({
  id: answer.id,
  description: answer.description ?? '',
  type: answer.runner_type,
  paused: answer.paused,
  status: answer.status,
});

function runnerOf(answer: z.infer<typeof RunnerAnswer>): FleetRunner {
  const owners = answer.runner_type === 'group_type' ? answer.groups : answer.projects;
  return {
    ...listedOf(answer),
    tags: answer.tag_list,
    runUntagged: answer.run_untagged ?? answer.tag_list.length === 0,
    locked: answer.locked ?? false,
    accessLevel: answer.access_level,
    ownerIds: answer.runner_type === 'instance_type' ? [] : (owners ?? []).map((owner) => owner.id),
    ...withoutAbsent({
      maximumTimeoutSeconds: answer.maximum_timeout ?? undefined,
      maintenanceNote: answer.maintenance_note ?? undefined,
      contactedAtMs: answer.contacted_at ?? undefined,
    }),
    ...(answer.created_by !== undefined && { createdBy: answer.created_by === null ? 'token' : 'user' }),
  };
}

const managerOf = (answer: z.infer<typeof ManagerAnswer>): RunnerManager => ({
  systemId: answer.system_id,
  status: answer.status,
  ...withoutAbsent({
    version: answer.version ?? undefined,
    platform: answer.platform ?? undefined,
    architecture: answer.architecture ?? undefined,
    contactedAtMs: answer.contacted_at ?? undefined,
  }),
});

/** @see https://docs.gitlab.com/api/users/#create-a-runner-linked-to-a-user */
const creationOf = (runner: NewRunner): object => ({
  runner_type: runner.type,
  description: runner.description,
  tag_list: runner.tags,
  run_untagged: runner.runUntagged,
  locked: runner.locked,
  access_level: runner.accessLevel,
  maintenance_note: runner.maintenanceNote,
  ...withoutAbsent({
    maximum_timeout: runner.maximumTimeoutSeconds,
    group_id: runner.type === 'group_type' ? runner.ownerId : undefined,
    project_id: runner.type === 'project_type' ? runner.ownerId : undefined,
  }),
});
