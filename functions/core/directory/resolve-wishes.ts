/** Ids that readers did not find are asked for first, one by one: a group of today must not wait for the listing. */
import { GROUP_LEVELS_MAX, pathKey } from '../../../policies/place/directory.ts';
import { type GitLabDirectory, GitLabError } from '../gitlab/index.ts';
import type { DirectoryWish } from './directory-table.ts';
import { type GroupTree, rowOf } from './group-tree.ts';
import type { ChangedProjects } from './project-chunks.ts';
import type { RunBudget } from './run-budget.ts';

interface WishDeps {
  readonly gitlab: Pick<GitLabDirectory, 'group' | 'project'>;
  readonly budget: RunBudget;
  readonly groups: GroupTree;
  readonly changed: ChangedProjects;
}

/** A run resolves so many; each takes one call, or one per level of a new tree of groups. */
export const WISHES_MAX = 40;

/** The wishes that need no second look: found, or unknown to GitLab, too. */
export async function resolveWishes(
  wishes: readonly DirectoryWish[],
  deps: WishDeps,
): Promise<readonly DirectoryWish[]> {
  const granted: DirectoryWish[] = [];
  for (const wish of wishes) {
    const done = wish.kind === 'group' ? await findGroup(wish.id, deps) : await findProject(wish.id, deps);
    if (done) granted.push(wish);
  }
  return granted;
}

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
    const asked = id;
    const got = await budget.ask(() => readable(gitlab.group(asked)));
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
