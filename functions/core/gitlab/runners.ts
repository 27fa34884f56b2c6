import { z } from 'zod';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { type GitLabJob, isTerminal, REJECTED_BY_ROUTER } from './gitlab.ts';
import { readGitLabInstant } from './job-reader.ts';
import {
  changed,
  checkBaseUrl,
  pageQuery,
  type RestCallDeps,
  readOne,
  readPage,
  retryWhenLimited,
} from './rest-call.ts';
import type { GitLab } from './rest-gitlab.ts';

const CHANGE_TIMEOUT_MS = 10_000;
const TEXT_CHARACTERS_MAX = 4_096;
const LIST_MAX = 10_000;

const id = z.int().positive();
const text = z.string().max(TEXT_CHARACTERS_MAX);
/** GitLab's instants; one that no calendar shows reads as absent. */
const instantMs = text.transform((value) => readGitLabInstant(value)).nullish();
const version = text.transform((value) => (value === '' ? undefined : value)).nullish();
const owners = z.array(z.object({ id })).nullish();

/** `paused`: it takes no new job. `status`: `online`, `offline`, `stale`, `never_contacted`; older versions say `paused`, too. */
const listed = {
  id,
  description: text.nullish(),
  runner_type: z.enum(['instance_type', 'group_type', 'project_type']),
  paused: z.boolean(),
  status: text,
};
const fromListed = (answer: z.output<z.ZodObject<typeof listed>>) => ({
  id: answer.id,
  description: answer.description ?? '',
  type: answer.runner_type,
  paused: answer.paused,
  status: answer.status,
});
const ListedAnswer = z.object(listed).transform(fromListed);

const RunnerAnswer = z
  .object({
    ...listed,
    tag_list: z.array(text).max(LIST_MAX),
    run_untagged: z.boolean().nullish(),
    locked: z.boolean().nullish(),
    access_level: text,
    maximum_timeout: z.int().positive().nullish(),
    maintenance_note: text.nullish(),
    contacted_at: instantMs,
    created_by: z.object({ id }).nullish(),
    groups: owners,
    projects: owners,
  })
  .transform((answer) => {
    const of = answer.runner_type === 'group_type' ? answer.groups : answer.projects;
    const tags: readonly string[] = answer.tag_list;
    const ownerIds: readonly number[] = (of ?? []).map((owner) => owner.id);
    const createdBy = answer.created_by === null ? ('token' as const) : ('user' as const);
    return {
      ...fromListed(answer),
      tags,
      runUntagged: answer.run_untagged ?? tags.length === 0,
      locked: answer.locked ?? false,
      accessLevel: answer.access_level,
      ownerIds: answer.runner_type === 'instance_type' ? [] : ownerIds,
      ...withoutAbsent({
        maximumTimeoutSeconds: answer.maximum_timeout ?? undefined,
        /** The administrators' note; absent also if the token may not read it. */
        maintenanceNote: answer.maintenance_note ?? undefined,
        contactedAtMs: answer.contacted_at ?? undefined,
        /** `token`: registered with a registration token, or its creator is gone. Absent: this GitLab version does not say. */
        createdBy: answer.created_by === undefined ? undefined : createdBy,
      }),
    };
  });

const ManagerAnswer = z
  .object({
    /** Made by the machine; `s_…` survives restarts, `r_…` does not. */
    system_id: text,
    version,
    platform: version,
    architecture: version,
    /** GitLab writes it down every 40 to 55 minutes. */
    contacted_at: instantMs,
    status: text,
  })
  .transform((answer) => ({
    systemId: answer.system_id,
    status: answer.status,
    ...withoutAbsent({
      version: answer.version ?? undefined,
      platform: answer.platform ?? undefined,
      architecture: answer.architecture ?? undefined,
      contactedAtMs: answer.contacted_at ?? undefined,
    }),
  }));

/** The token is shown once, never to be printed. */
const CreatedAnswer = z.object({ id, token: z.string().regex(/^[\x21-\x7e]+$/) });

export type FleetRunner = z.output<typeof RunnerAnswer>;
export type RunnerManager = z.output<typeof ManagerAnswer>;

/** A runner to be made, with what the one it replaces has. */
export type NewRunner = Pick<
  FleetRunner,
  'description' | 'type' | 'tags' | 'runUntagged' | 'locked' | 'accessLevel' | 'maximumTimeoutSeconds'
> & {
  readonly maintenanceNote: string;
  readonly ownerId?: number;
};

export type FleetGitLab = ReturnType<typeof createFleet>;

/** Changes need an administrator's token. @see https://docs.gitlab.com/api/runners/ @throws {Error} if `baseUrl` is not a plain http or https address */
export function createFleet(deps: RestCallDeps) {
  checkBaseUrl(deps.baseUrl);
  return {
    /** `GET /runners/all`, in numbered pages, without tags: see `runner`. @throws {GitLabError} */
    listed: ({ page }: { readonly page?: string | undefined }) =>
      readPage('runners', '/runners/all', pageQuery({}, page), ListedAnswer, deps),

    runner: (runnerId: number): Promise<FleetRunner | undefined> =>
      readOne(`/runners/${runnerId}`, RunnerAnswer, deps),

    /** `GET /runners/:id/managers`, which has no pages. @throws {GitLabError} */
    managers: (runnerId: number) =>
      readPage('managers', `/runners/${runnerId}/managers`, new URLSearchParams(), ManagerAnswer, deps),

    /** GitLab returns the token only once. @throws {GitLabError} It may or may not exist. */
    create: (runner: NewRunner) =>
      changed('POST', '/user/runners', creationBody(runner), CreatedAnswer, deps, CHANGE_TIMEOUT_MS),

    /** It takes no new job. @throws {GitLabError} It may or may not be paused. */
    async pause(runnerId: number): Promise<void> {
      const paused = z.object({ paused: z.literal(true) });
      await changed('PUT', `/runners/${runnerId}`, { paused: true }, paused, deps, CHANGE_TIMEOUT_MS);
    },
  };
}

/** @see https://docs.gitlab.com/api/users/#create-a-runner-linked-to-a-user */
const creationBody = (runner: NewRunner): object => ({
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

export type RouterAccess =
  /** Before 18.9: it asks GitLab for jobs past the router. */
  | 'none'
  /** 18.9 and 18.10: `FF_USE_JOB_ROUTER=true` in the environment of the process. */
  | 'environment'
  /** Since 18.11: `[runners.feature_flags]` of the runner's configuration. */
  | 'feature_flag'
  | 'unknown';

export const byVersion = (a: string, b: string): number => parseMinor(a) - parseMinor(b);

/** `18.11.2`, `v18.11.2`, `19.0.0~pre.3` and the like → 180011; 0 for what is no version. */
function parseMinor(version = ''): number {
  const [, major = 0, minor = 0] = /^v?(\d{1,4})\.(\d{1,4})(?!\d)/.exec(version) ?? [];
  return Number(major) * 10_000 + Number(minor);
}

/** `development`, as people call what they built themselves, may be anything. */
export function routerAccess(version: string | undefined): RouterAccess {
  const minor = parseMinor(version);
  if (minor === 0) return 'unknown';
  if (minor < parseMinor('18.9')) return 'none';
  return minor < parseMinor('18.11') ? 'environment' : 'feature_flag';
}

/** From 19.2 on a runner bypasses the router for half a minute after three router failures in a row. */
export const fallsBack = (version: string | undefined): boolean => parseMinor(version) >= parseMinor('19.2');

interface JobSpan {
  /** Unix ms: jobs that ended before are left out, and reading stops at one created before. */
  readonly sinceMs: number;
  readonly untilMs: number;
}

/**
 * Finished jobs runner by runner, newest first by id. GitLab has no filter by time there, so newer jobs are read as well, and a job
 * that waited since before the span is missed. `cut`: there are more than `pagesMax` pages of 100. @throws {GitLabError}
 */
export async function* finishedJobs(
  gitlab: Pick<GitLab, 'listJobs'>,
  runnerIds: readonly number[],
  span: JobSpan & {
    readonly pagesMax: number;
    readonly sleep: (delayMs: number) => Promise<void>;
  },
) {
  for (const runnerId of runnerIds) {
    let page: string | undefined;
    for (let pages = 1; ; pages += 1) {
      const found = await retryWhenLimited(
        () => gitlab.listJobs(`runners/${runnerId}`, { page }),
        span.sleep,
      );
      const oldest = found.jobs.at(-1)?.createdAtMs ?? Number.POSITIVE_INFINITY;
      const isOver = found.next === undefined || oldest < span.sinceMs;
      const isLast = isOver || pages >= span.pagesMax;
      const jobs = found.jobs.filter((job) => ranIn(job, span));
      yield { runnerId, jobs, unreadable: found.unreadable ?? 0, isLast, cut: isLast && !isOver };
      if (isLast) break;
      page = found.next;
    }
  }
}

/** A job that the router refused did not run, nor one that was canceled while it waited. */
function ranIn({ status, startedAtMs, finishedAtMs, failureReason }: GitLabJob, span: JobSpan): boolean {
  if (!isTerminal(status) || startedAtMs === undefined || finishedAtMs === undefined) return false;
  if (status === 'failed' && failureReason === REJECTED_BY_ROUTER) return false;
  return finishedAtMs >= span.sinceMs && finishedAtMs < span.untilMs;
}
