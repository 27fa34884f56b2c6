import { type Directory, type DirectoryGroup, directoryOf } from '../../../policies/place/directory.ts';

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

/** What a person calls a subject: the path of a group or project, the name of a class, else the subject itself. */
export function labelOf(subject: string, { groupById, projectById }: Directory): string {
  if (subject === 'instance') return 'The whole GitLab';
  const slash = subject.indexOf('/');
  const [kind, name] = [subject.slice(0, slash), subject.slice(slash + 1)];
  if (kind === 'group') return groupById.get(Number(name))?.path ?? subject;
  if (kind === 'project') return projectById.get(Number(name))?.path ?? subject;
  if (kind === 'runner' || kind === 'user') return `${kind} ${name}`;
  return kind === 'runner-class' || kind === 'groups' ? name : subject;
}

function byPath(a: DirectoryGroup, b: DirectoryGroup): number {
  if (a.path === b.path) return 0;
  return a.path < b.path ? -1 : 1;
}
