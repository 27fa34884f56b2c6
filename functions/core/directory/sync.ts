/** Ids that readers did not find are asked for first, one by one: a group of today must not wait for the listing. */
import { GROUP_LEVELS_MAX, pathKey } from '../../../policies/directory.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { LedgerClock } from '../environment/environment.ts';
import { GitLabError } from '../gitlab/gitlab.ts';
import type { GitLabDirectory } from '../gitlab/rest-gitlab.ts';
import type { DirectoryTable, DirectoryWish } from './directory-table.ts';
import { DirectoryDraft, type GroupTree, readGroups, rowOf, SYNC_TIMEOUT_MS, writeGroups } from './draft.ts';
import {
  type ChangedProjects,
  type GroupListing,
  listChanged,
  listGroups,
  listProjects,
  RunBudget,
  writeChanged,
} from './listings.ts';

interface WishDeps {
  readonly gitlab: Pick<GitLabDirectory, 'group' | 'project'>;
  readonly budget: RunBudget;
  readonly groups: GroupTree;
  readonly changed: ChangedProjects;
}

/** Most that a run resolves; each takes one call, or one per level of a new tree of groups. */
const WISHES_MAX = 40;

async function findProject(id: number, deps: WishDeps): Promise<boolean> {
  const got = await deps.budget.ask(() => readable(deps.gitlab.project(id)));
  if (got === undefined) return false;
  const project = got.answer;
  if (project === undefined) return true;
  deps.changed.set(id, project);
  const { namespace } = project;
  const known = deps.groups.get(namespace.id)?.[2];
  if (namespace.personal || known === namespace.path) return true;
  return findGroup(namespace.id, deps);
}

/** The group and, where they are not known or were moved, those above it. */
async function findGroup(groupId: number, { gitlab, budget, groups }: WishDeps): Promise<boolean> {
  let id = groupId;
  for (let level = 0; level < GROUP_LEVELS_MAX; level += 1) {
    const got = await budget.ask(() => readable(gitlab.group(id)));
    if (got === undefined) return false;
    const group = got.answer;
    if (group === undefined) return true;
    groups.set(group.id, rowOf(group));
    if (group.parentId === undefined) return true;
    const parent = groups.get(group.parentId);
    if (parent !== undefined && pathKey(group.path).startsWith(`${pathKey(parent[2])}/`)) return true;
    id = group.parentId;
  }
  return true;
}

/** One odd group must not end the run. */
const readable = <T>(asked: Promise<T | undefined>): Promise<T | undefined> =>
  asked.catch((error: unknown) => {
    if (error instanceof GitLabError && error.code === 'gitlab_unreadable') return undefined;
    throw error;
  });

// One run of the sync: what readers missed, all groups, the projects that changed and a slice of all projects, within a
// budget of calls. Everything is written aside and becomes live with one flip; a run that dies anywhere leaves the
// directory as it was, and the next one goes on from there. The second of two runs to flip is lost.

export interface SyncDeps {
  readonly gitlab: GitLabDirectory;
  readonly table: DirectoryTable;
  readonly clock: Pick<LedgerClock, 'nowMs' | 'monotonicMs'>;
  /** Different for every run, e.g. eight random characters. */
  readonly runId: string;
  /** Believes GitLab even if it lists far less than before. @default false */
  readonly force?: boolean;
  readonly callsMax?: number;
  readonly runMs?: number;
}

export interface DirectorySyncReport {
  readonly outcome: 'flipped' | 'stale';
  /** True if readers use the directory; false if the groups were never listed completely. */
  readonly live: boolean;
  readonly calls: number;
  readonly groups: number;
  readonly rootIds: readonly number[];
  readonly groupsListing: GroupListing['outcome'];
  readonly groupsListedAgeMs?: number;
  /** Groups that the listing did not have: those that are missing again are dropped. */
  readonly groupsMissing: number;
  readonly projectsChanged: number;
  readonly projectsListed: number;
  readonly projectsRemoved: number;
  /** Missing from GitLab's list and kept: it listed far less than before. */
  readonly projectsRefused: number;
  /** True if a full listing of projects continues in the next run. */
  readonly projectsGoing: boolean;
  readonly wishes: number;
  readonly wishesGranted: number;
  readonly unreadable: number;
  readonly failure?: string;
}

const WAIT = { timeoutMs: SYNC_TIMEOUT_MS };

/** @throws {DirectoryError} the table failed: nothing changed, or the flip happened and its answer was lost. */
export async function syncDirectory(deps: SyncDeps): Promise<DirectorySyncReport> {
  const { gitlab, table, clock, runId, force = false } = deps;
  const nowMs = clock.nowMs();
  const budget = new RunBudget(deps);
  const [draft, wishes] = await Promise.all([
    DirectoryDraft.open({ table, runId, nowMs }),
    table.readWishes(WISHES_MAX, WAIT),
  ]);
  const groups = await readGroups(draft);
  const changed: ChangedProjects = new Map();

  /** Those that need no second look: found, or unknown to GitLab, too. */
  const granted: DirectoryWish[] = [];
  const finding = { gitlab, budget, groups, changed };
  for (const wish of wishes) {
    const find = wish.kind === 'group' ? findGroup : findProject;
    if (await find(wish.id, finding)) granted.push(wish);
  }
  const listing = { gitlab, draft, budget, nowMs, force };
  const groupsListed = await listGroups(groups, listing);
  await writeGroups(groups, draft);
  const marks = await listChanged(changed, listing);
  await writeChanged(changed, draft);
  const projectsListed = await listProjects(marks.projectsPass, listing);

  const live = draft.live || groupsListed.outcome === 'listed';
  const { projectsPass: _, ...since } = marks;
  const groupsListedAtMs = groupsListed.outcome === 'listed' ? nowMs : draft.progress.groupsListedAtMs;
  const outcome = await draft.flip(
    {
      ...since,
      ...withoutAbsent({
        groupsListedAtMs,
        groupsPass: groupsListed.pass,
        projectsPass: projectsListed.pass,
      }),
    },
    live,
  );
  // A request that stays on the list is made once more, no harm done.
  if (outcome === 'flipped') await Promise.allSettled(granted.map((wish) => table.grantWish(wish, WAIT)));
  return {
    outcome,
    live,
    calls: budget.calls,
    groups: groups.size,
    rootIds: [...groups.values()].flatMap(([id, parentId]) => (parentId === 0 ? [id] : [])),
    groupsListing: groupsListed.outcome,
    ...(groupsListedAtMs !== undefined && { groupsListedAgeMs: nowMs - groupsListedAtMs }),
    groupsMissing: groupsListed.missing,
    projectsChanged: changed.size,
    projectsListed: projectsListed.listed,
    projectsRemoved: projectsListed.removed,
    projectsRefused: projectsListed.refused,
    projectsGoing: projectsListed.pass !== undefined,
    wishes: wishes.length,
    wishesGranted: granted.length,
    unreadable: groupsListed.unreadable + projectsListed.unreadable,
    ...(budget.failure !== undefined && { failure: budget.failure.message }),
  };
}
