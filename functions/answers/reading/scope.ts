import { type CapKind, capOf, capWords, placeOfSubject } from '../../../policies/limits/cap.ts';
import { type Directory, type DirectoryGroup, directoryOf } from '../../../policies/place/directory.ts';
import type { Roles } from '../../core/signin/index.ts';

/** A user's visibility: a subject is visible if it is, or is below, one of the user's groups. */
export interface Scope {
  /** The whole instance: finance and admins. */
  readonly seesAll: boolean;
  /** Groups they see with everything below; empty for who sees all. */
  readonly groupIds: ReadonlySet<number>;
  seesGroup(id: number): boolean;
  ownsGroup(id: number): boolean;
  /** @param subject - as in edits and rows; what is no group or project is for who sees all. */
  sees(subject: string): boolean;
}

const GROUP_OR_PROJECT = /^(group|project)\/(\d{1,15})$/;

export function scopeOf(roles: Roles, directory: Directory): Scope {
  if (roles.jobOfProjectId !== undefined) return scopeOfJob(roles.jobOfProjectId);
  const seesAll = roles.admin || roles.finance;
  const seen = new Set([...roles.ownedGroupIds, ...roles.viewerGroupIds]);
  const owned = new Set(roles.ownedGroupIds);
  const isBelow = (id: number, tops: ReadonlySet<number>): boolean =>
    tops.has(id) || (directory.chainById.get(id) ?? []).some((group) => tops.has(group.id));
  const seesGroup = (id: number): boolean => seesAll || isBelow(id, seen);
  return {
    seesAll,
    groupIds: seesAll ? new Set() : seen,
    seesGroup,
    ownsGroup: (id) => isBelow(id, owned),
    sees: (subject) => {
      if (seesAll) return true;
      const [, kind, id] = GROUP_OR_PROJECT.exec(placeOfSubject(subject)) ?? [];
      if (id === undefined) return false;
      if (kind === 'group') return seesGroup(Number(id));
      const groupId = directory.projectById.get(Number(id))?.groupId;
      return groupId !== undefined && seesGroup(groupId);
    },
  };
}

/** Only its own project; groups above are shown as far as they disclose. */
const scopeOfJob = (projectId: number): Scope => ({
  seesAll: false,
  groupIds: new Set(),
  seesGroup: () => false,
  ownsGroup: () => false,
  sees: (subject) => placeOfSubject(subject) === `project/${projectId}`,
});

/** The groups as they are now, with the way down. */
export interface Places {
  readonly directory: Directory;
  /** Keyed by the parent's id, each list in order of paths. */
  readonly childrenOf: ReadonlyMap<number, readonly DirectoryGroup[]>;
  /** Every group, in order of paths. */
  readonly groups: readonly DirectoryGroup[];
  /** When GitLab's list was last read, Unix ms; absent: never. */
  readonly atMs?: number;
}

export const NOWHERE: Places = placesOf(directoryOf([]));

export function placesOf(directory: Directory, atMs?: number): Places {
  const groups = [...directory.groupById.values()].sort(byPath);
  const childrenOf = new Map<number, DirectoryGroup[]>();
  for (const group of groups) {
    if (group.parentId === undefined) continue;
    const siblings = childrenOf.get(group.parentId);
    if (siblings === undefined) childrenOf.set(group.parentId, [group]);
    else siblings.push(group);
  }
  return { directory, childrenOf, groups, ...(atMs !== undefined && { atMs }) };
}

const OF_PROJECTS: readonly CapKind[] = ['job', 'schedule'];

/** Label of a subject: the path of a group or project, the name of a class, or the subject itself. */
export function subjectLabelOf(subject: string, directory: Directory): string {
  if (subject === 'instance') return 'The whole GitLab';
  const { groupById, projectById } = directory;
  const cap = capOf(subject);
  if (cap !== undefined) {
    const place = subjectLabelOf(cap.place, directory);
    const { kind, name } = cap;
    if (name === undefined) return `${place}: ${capWords(kind)}`;
    return `${place}: ${kind} ${capNameLabel(kind, name, directory)}`;
  }
  const slash = subject.indexOf('/');
  const [kind, name] = [subject.slice(0, slash), subject.slice(slash + 1)];
  if (kind === 'group') return groupById.get(Number(name))?.path ?? subject;
  if (kind === 'project') return projectById.get(Number(name))?.path ?? subject;
  if (kind === 'runner' || kind === 'user') return `${kind} ${name}`;
  return kind === 'runner-class' || kind === 'groups' ? name : subject;
}

/** Adds the project to names of jobs and schedules: `7/unit` → `unit of acme/payments/checkout`. */
function capNameLabel(kind: CapKind, name: string, { projectById }: Directory): string {
  const slash = name.indexOf('/');
  const path = OF_PROJECTS.includes(kind) ? projectById.get(Number(name.slice(0, slash)))?.path : undefined;
  return path === undefined ? name : `${name.slice(slash + 1)} of ${path}`;
}

function byPath(a: DirectoryGroup, b: DirectoryGroup): number {
  if (a.path === b.path) return 0;
  return a.path < b.path ? -1 : 1;
}
