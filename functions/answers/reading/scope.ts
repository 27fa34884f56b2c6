import {
  ancestorsOf,
  type Directory,
  type DirectoryGroup,
  indexDirectory,
} from '../../../policies/directory.ts';
import { type CapKind, capWords, parseCap, placeOfSubject } from '../../../policies/limits/cap.ts';
import { compareTexts } from '../../../policies/text/plain-text.ts';
import type { UserNames } from '../../core/gitlab/cached-answers.ts';
import { subjectPath } from '../../core/limits/change-rows.ts';
import { groupsAbove } from '../../core/limits/subject-text.ts';
import type { Roles } from '../../core/signin/model.ts';

/** Visibility for a caller: a subject is visible if it is, or is below, one of the caller's groups. */
export interface Scope {
  readonly seesAll: boolean;
  /** Visible groups, each with everything below; empty if the caller sees everything. */
  readonly groupIds: ReadonlySet<number>;
  /** Those without a visible group above. */
  readonly topGroupIds: readonly number[];
  seesGroup(id: number): boolean;
  ownsGroup(id: number): boolean;
  /** Subjects other than groups and projects are only visible to callers who see everything. */
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
  const isTop = (id: number): boolean =>
    !(directory.chainById.get(id) ?? []).some((above) => above.id !== id && seen.has(above.id));
  const seesGroup = (id: number): boolean => seesAll || isBelow(id, seen);
  return {
    seesAll,
    groupIds: seesAll ? new Set() : seen,
    topGroupIds: seesAll ? [] : [...seen].filter(isTop),
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

const scopeOfJob = (projectId: number): Scope => ({
  seesAll: false,
  groupIds: new Set(),
  topGroupIds: [],
  seesGroup: () => false,
  ownsGroup: () => false,
  sees: (subject) => placeOfSubject(subject) === `project/${projectId}`,
});

export interface Places {
  readonly directory: Directory;
  readonly childrenOf: ReadonlyMap<number, readonly DirectoryGroup[]>;
  readonly groups: readonly DirectoryGroup[];
  readonly roots: readonly DirectoryGroup[];
  /** When the list was last read from GitLab, Unix ms; absent: never. */
  readonly atMs?: number;
}

export const byPath = (a: { readonly path: string }, b: { readonly path: string }): number =>
  compareTexts(a.path, b.path);

export const NOWHERE: Places = placesOf(indexDirectory([]));

export function placesOf(directory: Directory, atMs?: number): Places {
  const groups = [...directory.groupById.values()].sort(byPath);
  const childrenOf = Map.groupBy(groups, ({ parentId }) => parentId ?? 0);
  const roots = childrenOf.get(0) ?? [];
  childrenOf.delete(0);
  return { directory, childrenOf, groups, roots, ...(atMs !== undefined && { atMs }) };
}

/** Label of a subject: the path of a group or project, the name of a class, or the subject itself. */
export function formatSubjectLabel(subject: string, directory: Directory): string {
  if (subject === 'instance') return 'The whole GitLab';
  const cap = parseCap(subject);
  if (cap !== undefined) {
    const place = formatSubjectLabel(cap.place, directory);
    const { kind, name } = cap;
    if (name === undefined) return `${place}: ${capWords(kind)}`;
    return `${place}: ${kind} ${capNameLabel(kind, name, directory)}`;
  }
  return subjectPath(subject, directory) ?? subject.replace(/^(runner|user)\//, '$1 ');
}

/** Adds the project to names of jobs and schedules: `7/unit` → `unit of acme/payments/checkout`. */
function capNameLabel(kind: CapKind, name: string, { projectById }: Directory): string {
  if (kind !== 'job' && kind !== 'schedule') return name;
  const slash = name.indexOf('/');
  const path = projectById.get(Number(name.slice(0, slash)))?.path;
  return path === undefined ? name : `${name.slice(slash + 1)} of ${path}`;
}

/** Returns true if a subject is a group or project itself, or is below the group. */
export const isWithin = (subject: string, top: string, directory: Directory): boolean =>
  subject === top || ancestorsOf(subject, directory).some(({ id }) => `group/${id}` === top);

/** Path of a recorded job's group: that of the directory, else of its project's path, else the id. */
export function groupLabelOf(
  { groupId, projectPath = '' }: { readonly groupId?: number; readonly projectPath?: string },
  { groupById }: Directory,
): string {
  const above = projectPath.slice(0, Math.max(0, projectPath.lastIndexOf('/')));
  return groupById.get(groupId ?? 0)?.path || above || String(groupId ?? 'unknown');
}

/** Closest first, the instance last, without the subject itself. */
export function subjectsAbove(subject: string, directory: Directory): readonly string[] {
  if (subject === 'instance') return [];
  return [...groupsAbove(subject, directory).toReversed(), 'instance'];
}

/** `project/7 money-month` → `acme/payments/checkout money-month`. Unknown ids stay. @param nameOf - names users */
export function limitLabel(
  limit: string,
  directory: Directory,
  nameOf = (label: string): string => label,
): string {
  const subject = subjectOfLimit(limit);
  return `${nameOf(formatSubjectLabel(subject, directory))}${limit.slice(subject.length)}`;
}

/** `group/101 money-month` → `group/101`. A job's name in it may have blanks, a limit's id has none. */
export const subjectOfLimit = (limit: string): string => limit.slice(0, limit.lastIndexOf(' '));

const USER = /^user (\d{1,15})$/;
const GONE = 'a user GitLab does not know';

/** Names users: `user 7` → `anna`; other labels stay. Without GitLab's answer, a user stays a number. */
export async function userLabels(
  labels: readonly string[],
  userNames: UserNames | undefined,
): Promise<(label: string) => string> {
  const idIn = (label: string): number => Number(USER.exec(label)?.[1] ?? 0);
  const ids = labels.map(idIn).filter((id) => id > 0);
  if (userNames === undefined || ids.length === 0) return (label) => label;
  const names = await userNames([...new Set(ids)]);
  return (label) => {
    const name = names.get(idIn(label));
    return name === undefined ? label : name || GONE;
  };
}
