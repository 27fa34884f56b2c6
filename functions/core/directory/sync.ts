/**
 * One run of the sync: what readers missed, all groups, the projects that changed and a slice of all projects, within a
 * budget of calls. Everything is written aside and becomes live with one flip; a run that dies anywhere leaves the
 * directory as it was, and the next one goes on from there. The second of two runs to flip is lost.
 */

import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { LedgerClock } from '../environment/index.ts';
import type { GitLabDirectory } from '../gitlab/index.ts';
import type { DirectoryTable, DirectoryWish } from './directory-table.ts';
import { DirectoryDraft, SYNC_TIMEOUT_MS } from './draft.ts';
import { readGroups, writeGroups } from './group-tree.ts';
import { type GroupListing, listGroups } from './list-groups.ts';
import { listChanged, listProjects } from './list-projects.ts';
import { type ChangedProjects, writeChanged } from './project-chunks.ts';
import { resolveWishes, WISHES_MAX } from './resolve-wishes.ts';
import { RunBudget } from './run-budget.ts';

export interface SyncDeps {
  readonly gitlab: GitLabDirectory;
  readonly table: DirectoryTable;
  readonly clock: Pick<LedgerClock, 'nowMs' | 'monotonicMs'>;
  /** Different for every run, e.g. eight random characters. */
  readonly runId: string;
  /** Believes GitLab even if it lists far less than before. @default false */
  readonly force?: boolean;
  /** @default `CALLS_MAX` */
  readonly callsMax?: number;
  /** @default `RUN_MS` */
  readonly runMs?: number;
}

export interface DirectorySyncReport {
  readonly outcome:
    | 'flipped'
    /** Another run was faster; nothing of this one counts. */
    | 'stale';
  /** Whether readers go by the directory; false: the groups were never listed to their end. */
  readonly live: boolean;
  /** Calls to GitLab. */
  readonly calls: number;
  /** Groups known now, personal namespaces aside. */
  readonly groups: number;
  /** Ids of the top-level ones. */
  readonly rootIds: readonly number[];
  readonly groupsListing: GroupListing['outcome'];
  /** How long ago all groups were last listed to their end; absent: never. */
  readonly groupsListedAgeMs?: number;
  /** Groups that the listing did not have: those that are missing again are dropped. */
  readonly groupsMissing: number;
  readonly projectsChanged: number;
  readonly projectsListed: number;
  readonly projectsRemoved: number;
  /** Missing from GitLab's list and kept: it listed far less than before. */
  readonly projectsRefused: number;
  /** Whether a full listing of projects goes on with the next run. */
  readonly projectsGoing: boolean;
  readonly wishes: number;
  readonly wishesGranted: number;
  /** Entries of GitLab's lists that could not be read. */
  readonly unreadable: number;
  /** Why GitLab was asked no further. */
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

  const granted = await resolveWishes(wishes, { gitlab, budget, groups, changed });
  const groupsListed = await listGroups(groups, { gitlab, draft, budget, force });
  await writeGroups(groups, draft);

  const projects = { gitlab, draft, budget, nowMs, force };
  const marks = await listChanged(changed, projects);
  await writeChanged(changed, draft);
  const projectsListed = await listProjects(marks.projectsPass, projects);

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
  if (outcome === 'flipped') await grant(granted, table);
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

/** A wish that stays on the list is asked for once more, no harm done. */
async function grant(wishes: readonly DirectoryWish[], table: DirectoryTable): Promise<void> {
  await Promise.allSettled(wishes.map((wish) => table.grantWish(wish, WAIT)));
}
