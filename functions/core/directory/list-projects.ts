import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { GitLabDirectory, GitLabProject } from '../gitlab/index.ts';
import { beforeProjectChunk, projectChunkNamed, projectChunkNumber, projectChunkNumberOf } from './chunks.ts';
import type { DirectoryDraft } from './draft.ts';
import type { SyncProgress } from './manifest.ts';
import { type ChangedProjects, chunkNumberOfLast, writeListed } from './project-chunks.ts';
import type { RunBudget } from './run-budget.ts';

/** Deleted projects run no jobs: finding them can wait for a day. */
const LIST_AGAIN_MS = DAY_MS;
/** GitLab's clock and ours may differ by so much, and an answer may be so late. */
const OVERLAP_MS = 10 * 60_000;
/** More changes than these, after an outage, are no fewer calls than listing everything. */
const CHANGED_PAGES_MAX = 50;

interface ProjectsDeps {
  readonly gitlab: Pick<GitLabDirectory, 'projects' | 'projectsChanged'>;
  readonly draft: DirectoryDraft;
  readonly budget: RunBudget;
  readonly nowMs: number;
  readonly force: boolean;
}

type Marks = Pick<SyncProgress, 'projectsPass' | 'projectsListedAtMs' | 'projectsSinceMs'>;

/** Lists changes since the last call. If there are too many, it lists everything. */
export async function listChanged(
  changed: ChangedProjects,
  { gitlab, budget, draft, nowMs }: ProjectsDeps,
): Promise<Marks> {
  const marks = marksOf(draft.progress, nowMs);
  const sinceMs = draft.progress.projectsSinceMs;
  if (sinceMs === undefined) return marks;
  let page: string | undefined;
  for (let pages = 0; pages < CHANGED_PAGES_MAX; pages += 1) {
    const asked = page;
    const got = await budget.ask(() =>
      gitlab.projectsChanged(asked === undefined ? { sinceMs } : { sinceMs, page: asked }),
    );
    // The latest come first: what was not reached is asked for again.
    if (got === undefined) return marks;
    for (const project of got.answer.projects) if (!changed.has(project.id)) changed.set(project.id, project);
    page = got.answer.next;
    if (page === undefined) return { ...marks, projectsSinceMs: nowMs - OVERLAP_MS };
  }
  return { projectsPass: { chunk: 0 }, projectsListedAtMs: nowMs, projectsSinceMs: nowMs - OVERLAP_MS };
}

/** Decides if a full listing is due, so that its changes are requested from its start on. */
function marksOf(progress: SyncProgress, nowMs: number): Marks {
  const { projectsPass, projectsListedAtMs, projectsSinceMs } = progress;
  const isDue = projectsListedAtMs === undefined || nowMs - projectsListedAtMs >= LIST_AGAIN_MS;
  const sinceMs = projectsSinceMs ?? nowMs - OVERLAP_MS;
  if (projectsPass === undefined && isDue)
    return { projectsPass: { chunk: 0 }, projectsListedAtMs: nowMs, projectsSinceMs: sinceMs };
  return {
    ...withoutAbsent({ projectsPass, projectsListedAtMs }),
    projectsSinceMs: sinceMs,
  };
}

interface ProjectsListed {
  readonly pass: SyncProgress['projectsPass'];
  /** Projects this run listed in full chunks. */
  readonly listed: number;
  readonly removed: number;
  readonly refused: number;
  readonly unreadable: number;
}

/** Lists projects by id from where the last run stopped. A chunk is written when a project behind it was seen. */
export async function listProjects(
  pass: SyncProgress['projectsPass'],
  { gitlab, draft, budget, force }: ProjectsDeps,
): Promise<ProjectsListed> {
  const sum = { listed: 0, removed: 0, refused: 0, unreadable: 0 };
  if (pass === undefined) return { pass, ...sum };
  let { chunk } = pass;
  let page: string | undefined;
  let pending: GitLabProject[] = [];

  const writeUpTo = async (end: number): Promise<void> => {
    const byNumber = Map.groupBy(pending, ({ id }) => projectChunkNumber(id));
    const stored = draft.names.flatMap((name) => projectChunkNumberOf(name) ?? []);
    const numbers = [...new Set([...byNumber.keys(), ...stored])].filter(
      (each) => each >= chunk && each < end,
    );
    for (const number of numbers.sort((a, b) => a - b)) {
      const projects = byNumber.get(number) ?? [];
      const { removed, refused } = await writeListed(projectChunkNamed(number), projects, draft, force);
      sum.listed += projects.length;
      sum.removed += removed;
      sum.refused += refused;
    }
    pending = pending.filter(({ id }) => projectChunkNumber(id) >= end);
    chunk = end;
  };

  const afterId = beforeProjectChunk(chunk);
  for (;;) {
    const asked = page;
    const got = await budget.ask(() =>
      gitlab.projects(asked === undefined ? { afterId } : { afterId, page: asked }),
    );
    if (got === undefined) return { pass: { chunk }, ...sum };
    pending.push(...got.answer.projects);
    sum.unreadable += got.answer.unreadable ?? 0;
    page = got.answer.next;
    if (page === undefined) break;
    const last = chunkNumberOfLast(got.answer.projects);
    if (last > chunk) await writeUpTo(last);
  }
  await writeUpTo(Number.POSITIVE_INFINITY);
  return { pass: undefined, ...sum };
}
