import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { LedgerClock } from '../environment/environment.ts';
import { GitLabError } from '../gitlab/gitlab.ts';
import type { GitLabDirectory, GitLabProject } from '../gitlab/rest-gitlab.ts';
import {
  beforeProjectChunk,
  type GroupChunk,
  type NamespaceRow,
  type ProjectChunk,
  type ProjectRow,
  projectChunk,
  projectChunkNamed,
  projectChunkNumber,
  projectChunkNumberOf,
  type StoredGroupRow,
  type SyncProgress,
  visibilityCode,
} from './chunks.ts';
import type { DirectoryTable } from './directory-table.ts';
import {
  type DirectoryDraft,
  type GroupTree,
  groupRow,
  openDraft,
  readGroups,
  writeGroups,
} from './draft.ts';

export interface SyncDeps {
  readonly gitlab: GitLabDirectory;
  readonly table: DirectoryTable;
  readonly clock: Pick<LedgerClock, 'nowMs' | 'monotonicMs'>;
  readonly runId: string;
  readonly force?: boolean;
  readonly callsMax?: number;
}

export type DirectorySyncReport = Awaited<ReturnType<typeof syncDirectory>>;

/**
 * One run of the sync, within a budget of calls. Everything is written aside and becomes live with one flip: a run that dies changes
 * nothing, and of two runs the second to flip is lost. @throws {DirectoryError} Nothing changed, or the flip's answer was lost.
 */
export async function syncDirectory(deps: SyncDeps) {
  const { gitlab, table, clock, runId, force = false } = deps;
  const nowMs = clock.nowMs();
  const budget = runBudget(clock, deps.callsMax);
  const draft = await openDraft({ table, runId, nowMs });
  const groups = await readGroups(draft);
  const changed: ChangedProjects = new Map();
  const listing = { gitlab, draft, budget, nowMs, force };
  const groupsListed = await listGroups(groups, listing);
  await writeGroups(groups, draft);
  const marks = await listChanged(changed, listing);
  await writeChanged(changed, draft);
  const projectsListed = await listProjects(marks.projectsPass, listing);

  const live = draft.live || groupsListed.outcome === 'listed';
  const groupsListedAtMs = groupsListed.outcome === 'listed' ? nowMs : draft.progress.groupsListedAtMs;
  const { projectsPass: _, ...since } = marks;
  const passes = { groupsPass: groupsListed.pass, projectsPass: projectsListed.pass };
  const outcome = await draft.flip({ ...since, ...withoutAbsent({ groupsListedAtMs, ...passes }) }, live);
  return {
    outcome,
    live,
    calls: budget.calls,
    groups: groups.size,
    rootIds: [...groups.values()].flatMap(([id, parentId]) => (parentId === 0 ? [id] : [])),
    groupsListing: groupsListed.outcome,
    groupsListedAgeMs: groupsListedAtMs === undefined ? undefined : nowMs - groupsListedAtMs,
    /** Groups that the listing did not have: those that are missing again are dropped. */
    groupsMissing: groupsListed.missing,
    projectsChanged: changed.size,
    projectsListed: projectsListed.listed,
    projectsRemoved: projectsListed.removed,
    /** Missing from GitLab's list and kept: it listed far less than before. */
    projectsRefused: projectsListed.refused,
    projectsGoing: projectsListed.pass !== undefined,
    unreadable: groupsListed.unreadable + projectsListed.unreadable,
    failure: budget.failure?.message,
  };
}

/** Two minutes at 300 ms each, and below GitLab's default rate limits per user (200 listings of groups a minute). */
const CALLS_MAX = 400;
const RUN_MS = 150_000;

/** Counts calls to GitLab, and ends the asking for all when GitLab fails: what was learned until then is kept. */
function runBudget(clock: { monotonicMs(): number }, callsMax = CALLS_MAX) {
  const startMs = clock.monotonicMs();
  const budget = {
    calls: 0,
    failure: undefined as GitLabError | undefined,
    /** Undefined: nothing more is to be asked in this run. @param share - of the budget that may be spent by then */
    async ask<T>(call: () => Promise<T>, share = 1): Promise<{ readonly answer: T } | undefined> {
      if (budget.failure !== undefined || budget.calls >= callsMax * share) return undefined;
      if (clock.monotonicMs() - startMs >= RUN_MS * share) return undefined;
      budget.calls += 1;
      try {
        return { answer: await call() };
      } catch (error) {
        if (!(error instanceof GitLabError)) throw error;
        budget.failure = error;
        return undefined;
      }
    },
  };
  return budget;
}

/** A truncated list (a token with fewer rights, a database being restored) looks like deletions: so does a loss of more than this. */
const DROPPED_SHARE_MAX = 0.2;
const DROPPED_MIN = 3;

const isTruncated = (dropped: number, known: number): boolean =>
  dropped === known ? known > 0 : dropped >= DROPPED_MIN && dropped > known * DROPPED_SHARE_MAX;

type ChangedProjects = Map<number, GitLabProject>;

async function writeChanged(changed: ChangedProjects, draft: DirectoryDraft): Promise<void> {
  for (const [name, projects] of Map.groupBy(changed.values(), ({ id }) => projectChunk(id))) {
    const [before] = await draft.read<ProjectChunk>([name]);
    await draft.write(name, merged(before, projects));
  }
}

/** A chunk's projects are these and no others, unless too many are missing (`refused`). */
async function writeListed(
  name: string,
  projects: readonly GitLabProject[],
  draft: DirectoryDraft,
  force: boolean,
): Promise<{ readonly removed: number; readonly refused: number }> {
  const [before] = await draft.read<ProjectChunk>([name]);
  const ids = new Set(projects.map(({ id }) => id));
  const known = before?.projects.length ?? 0;
  const missing = before?.projects.filter(([id]) => !ids.has(id)).length ?? 0;
  const isRefused = !force && isTruncated(missing, known);
  if (projects.length === 0 && !isRefused) draft.remove(name);
  else await draft.write(name, merged(isRefused ? before : undefined, projects));
  return isRefused ? { removed: 0, refused: missing } : { removed: missing, refused: 0 };
}

function merged(before: ProjectChunk | undefined, projects: readonly GitLabProject[]): ProjectChunk {
  const rows = new Map<number, ProjectRow>((before?.projects ?? []).map((row) => [row[0], row]));
  const spaces = new Map<number, NamespaceRow>((before?.namespaces ?? []).map((row) => [row[0], row]));
  for (const { id, slug, visibility, namespace } of projects) {
    rows.set(id, [id, namespace.id, slug, visibilityCode(visibility)]);
    spaces.set(namespace.id, [namespace.id, namespace.path, namespace.personal ? 1 : 0]);
  }
  const inUse = new Set([...rows.values()].map(([, namespaceId]) => namespaceId));
  return {
    namespaces: [...spaces.values()].filter(([id]) => inUse.has(id)).sort((a, b) => a[0] - b[0]),
    projects: [...rows.values()].sort((a, b) => a[0] - b[0]),
  };
}

const lastChunkNumber = (projects: readonly GitLabProject[]): number =>
  projectChunkNumber(projects.reduce((last, { id }) => Math.max(last, id), 0));

interface ListingDeps {
  readonly gitlab: Pick<GitLabDirectory, 'groups' | 'projects' | 'projectsChanged'>;
  readonly draft: DirectoryDraft;
  readonly budget: ReturnType<typeof runBudget>;
  readonly nowMs: number;
  readonly force: boolean;
}

/** A listing of a million groups takes fewer runs: one that has not ended by then goes round in circles. */
const RUNS_MAX = 60;
/** The part of a run that groups may take: however many there are, projects get their turn. */
const SHARE = 0.7;
const LISTING = 'listing';

/** Lists all groups, over several runs if need be. Pages by number may skip a group, so it goes when it is missing twice in a row. */
async function listGroups(groups: GroupTree, { gitlab, draft, budget, force }: ListingDeps) {
  const before = draft.progress.groupsPass;
  const rows: StoredGroupRow[] = [];
  let unreadable = 0;
  let page = before?.page;
  for (;;) {
    const got = await budget.ask(() => gitlab.groups({ page }), SHARE);
    if (got === undefined) {
      const pass = await setAside(page, rows, draft);
      return { outcome: 'going' as const, pass, missing: 0, unreadable };
    }
    rows.push(...got.answer.groups.map(groupRow));
    unreadable += got.answer.unreadable ?? 0;
    page = got.answer.next;
    if (page === undefined) break;
  }
  const earlier = await draft.read<GroupChunk>(before?.listed ?? [], 'aside');
  draft.dropAside();
  const listed = new Map(
    [...earlier.flatMap((chunk) => chunk?.groups ?? []), ...rows].map((row) => [row[0], row]),
  );
  return { ...believe(listed, groups, force), pass: undefined, unreadable };
}

async function setAside(
  page: string | undefined,
  rows: readonly StoredGroupRow[],
  draft: DirectoryDraft,
): Promise<SyncProgress['groupsPass']> {
  const before = draft.progress.groupsPass;
  if (page === undefined || rows.length === 0) return before;
  const runs = before?.listed.length ?? 0;
  if (runs >= RUNS_MAX) {
    draft.dropAside();
    return undefined;
  }
  const name = `${LISTING}/${runs}`;
  await draft.write(name, { groups: rows } satisfies GroupChunk, 'aside');
  return { page, listed: [...(before?.listed ?? []), name] };
}

/** `refused`: GitLab listed so few that it is believed what is there, but not what is not. */
function believe(listed: ReadonlyMap<number, StoredGroupRow>, groups: GroupTree, force: boolean) {
  const missing = [...groups.values()].filter(([id]) => !listed.has(id));
  // Those that were missing before and were believed then count no second time.
  const newly = missing.filter(([, , , , missed]) => missed === 0).length;
  const refused = !force && (listed.size === 0 || isTruncated(newly, groups.size));
  for (const row of listed.values()) groups.set(row[0], row);
  if (refused) return { outcome: 'refused' as const, missing: missing.length };
  for (const [id, parentId, path, visibility, missed] of missing) {
    if (missed > 0 || force) groups.delete(id);
    else groups.set(id, [id, parentId, path, visibility, 1]);
  }
  return { outcome: 'listed' as const, missing: missing.length };
}

/** Deleted projects run no jobs: finding them can wait for a day. */
const LIST_AGAIN_MS = DAY_MS;
/** GitLab's clock and ours may differ by so much, and an answer may be so late. */
const OVERLAP_MS = 10 * 60_000;
/** More changes than these, after an outage, are no fewer calls than listing everything. */
const CHANGED_PAGES_MAX = 50;

type Marks = Pick<SyncProgress, 'projectsPass' | 'projectsListedAtMs' | 'projectsSinceMs'>;

/** Lists changes since the last call. If there are too many, it lists everything. */
async function listChanged(
  changed: ChangedProjects,
  { gitlab, budget, draft, nowMs }: ListingDeps,
): Promise<Marks> {
  const marks = nextMarks(draft.progress, nowMs);
  const sinceMs = draft.progress.projectsSinceMs;
  if (sinceMs === undefined) return marks;
  let page: string | undefined;
  for (let pages = 0; pages < CHANGED_PAGES_MAX; pages += 1) {
    const got = await budget.ask(() => gitlab.projectsChanged({ sinceMs, page }));
    // The latest come first: what was not reached is asked for again.
    if (got === undefined) return marks;
    for (const project of got.answer.projects) if (!changed.has(project.id)) changed.set(project.id, project);
    page = got.answer.next;
    if (page === undefined) return { ...marks, projectsSinceMs: nowMs - OVERLAP_MS };
  }
  return { projectsPass: { chunk: 0 }, projectsListedAtMs: nowMs, projectsSinceMs: nowMs - OVERLAP_MS };
}

/** Decides if a full listing is due, so that its changes are requested from its start on. */
function nextMarks({ projectsPass, ...progress }: SyncProgress, nowMs: number): Marks {
  const { projectsListedAtMs, projectsSinceMs = nowMs - OVERLAP_MS } = progress;
  const isDue = projectsListedAtMs === undefined || nowMs - projectsListedAtMs >= LIST_AGAIN_MS;
  return projectsPass === undefined && isDue
    ? { projectsPass: { chunk: 0 }, projectsListedAtMs: nowMs, projectsSinceMs }
    : withoutAbsent({ projectsPass, projectsListedAtMs, projectsSinceMs });
}

async function listProjects(
  pass: SyncProgress['projectsPass'],
  { gitlab, draft, budget, force }: ListingDeps,
) {
  const sum = { listed: 0, removed: 0, refused: 0, unreadable: 0 };
  if (pass === undefined) return { pass: undefined, ...sum };
  let { chunk } = pass;
  let page: string | undefined;
  let pending: GitLabProject[] = [];

  const writeUpTo = async (end: number): Promise<void> => {
    const byNumber = Map.groupBy(pending, ({ id }) => projectChunkNumber(id));
    const stored = draft.names().flatMap((name) => projectChunkNumberOf(name) ?? []);
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
    const got = await budget.ask(() => gitlab.projects({ afterId, page }));
    if (got === undefined) return { pass: { chunk }, ...sum };
    pending.push(...got.answer.projects);
    sum.unreadable += got.answer.unreadable ?? 0;
    page = got.answer.next;
    if (page === undefined) break;
    const last = lastChunkNumber(got.answer.projects);
    if (last > chunk) await writeUpTo(last);
  }
  await writeUpTo(Number.POSITIVE_INFINITY);
  return { pass: undefined, ...sum };
}
