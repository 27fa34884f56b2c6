export interface DirectoryGroup {
  readonly id: number;
  readonly parentId?: number;
  readonly path: string;
  readonly visibility?: string;
  readonly personal: boolean;
}

export interface DirectoryProject {
  readonly id: number;
  readonly groupId: number;
  readonly path: string;
  readonly visibility?: string;
}

/** The groups of a GitLab instance, and some or all of its projects. Paths are indexed in lower case, as GitLab compares them. */
export interface Directory {
  readonly groupById: ReadonlyMap<number, DirectoryGroup>;
  readonly groupByPath: ReadonlyMap<string, DirectoryGroup>;
  readonly projectById: ReadonlyMap<number, DirectoryProject>;
  readonly projectByPath: ReadonlyMap<string, DirectoryProject>;
  /** Root first, the group itself last. A group whose parents are not all there, or form a ring, has no chain. */
  readonly chainById: ReadonlyMap<number, readonly DirectoryGroup[]>;
}

/** GitLab allows 20 levels of groups. */
export const GROUP_LEVELS_MAX = 20;

export function indexDirectory(
  groups: readonly DirectoryGroup[],
  projects: readonly DirectoryProject[] = [],
): Directory {
  const groupById = new Map(groups.map((group) => [group.id, group]));
  const chainById = new Map<number, readonly DirectoryGroup[]>();
  for (const group of groups) {
    const chain = findChain(group, groupById);
    if (chain !== undefined) chainById.set(group.id, chain);
  }
  return {
    groupById,
    chainById,
    groupByPath: new Map(groups.map((group) => [pathKey(group.path), group])),
    projectById: new Map(projects.map((project) => [project.id, project])),
    projectByPath: new Map(projects.map((project) => [pathKey(project.path), project])),
  };
}

export const pathKey = (path: string): string => path.toLowerCase();

const isId = (value: unknown): boolean => /^\d{1,15}$/.test(String(value));

export const findGroup = (
  value: unknown,
  { groupById, groupByPath }: Directory,
): DirectoryGroup | undefined =>
  isId(value) ? groupById.get(Number(value)) : groupByPath.get(pathKey(String(value)));

export const findProject = (
  value: unknown,
  { projectById, projectByPath }: Directory,
): DirectoryProject | undefined =>
  isId(value) ? projectById.get(Number(value)) : projectByPath.get(pathKey(String(value)));

function findChain(
  group: DirectoryGroup,
  groupById: ReadonlyMap<number, DirectoryGroup>,
): readonly DirectoryGroup[] | undefined {
  const chain = [group];
  let parentId = group.parentId;
  while (parentId !== undefined) {
    const parent = groupById.get(parentId);
    if (parent === undefined || chain.length >= GROUP_LEVELS_MAX) return undefined;
    chain.push(parent);
    parentId = parent.parentId;
  }
  return chain.reverse();
}

/** Groups of a subject, topmost first, including a group itself; empty if it is in none. */
export function ancestorsOf(
  subject: string,
  { chainById, projectById }: Directory,
): readonly DirectoryGroup[] {
  const [kind, id] = subject.split('/');
  if (kind === 'group') return chainById.get(Number(id)) ?? [];
  const groupId = kind === 'project' ? projectById.get(Number(id))?.groupId : undefined;
  return groupId === undefined ? [] : (chainById.get(groupId) ?? []);
}
