import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { LedgerClock } from '../environment/environment.ts';
import type { GitLabDirectory } from '../gitlab/rest-gitlab.ts';
import type { DirectoryTable } from './directory-table.ts';
import { DirectoryDraft, readGroups, writeGroups } from './draft.ts';
import {
  type ChangedProjects,
  listChanged,
  listGroups,
  listProjects,
  RunBudget,
  writeChanged,
} from './listings.ts';

export interface SyncDeps {
  readonly gitlab: GitLabDirectory;
  readonly table: DirectoryTable;
  readonly clock: Pick<LedgerClock, 'nowMs' | 'monotonicMs'>;
  /** Different for every run, e.g. eight random characters. */
  readonly runId: string;
  readonly force?: boolean;
  readonly callsMax?: number;
}

export type DirectorySyncReport = Awaited<ReturnType<typeof syncDirectory>>;

/**
 * One run of the sync: all groups, the projects that changed and a slice of all projects, within a budget of calls.
 * Everything is written aside and becomes live with one flip; a run that dies anywhere leaves the directory as it was, and
 * the next one goes on from there. The second of two runs to flip is lost.
 *
 * @throws {DirectoryError} the table failed: nothing changed, or the flip happened and its answer was lost.
 */
export async function syncDirectory(deps: SyncDeps) {
  const { gitlab, table, clock, runId, force = false } = deps;
  const nowMs = clock.nowMs();
  const budget = new RunBudget(deps);
  const draft = await DirectoryDraft.open({ table, runId, nowMs });
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
    /** True if readers use the directory; false if the groups were never listed completely. */
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
