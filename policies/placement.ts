import { type Directory, type DirectoryGroup, type DirectoryProject, pathKey } from './directory.ts';
import type { AdmissionRequest } from './request/request.ts';
import { withoutAbsent } from './without-absent.ts';

/** The groups and project of a job. Ids decide, paths are labels. */
export interface Placement {
  /** Root first, the job's own group last. Empty: nothing is known. */
  readonly ancestors: readonly PlacedGroup[];
  /** True if the last ancestor is the job's own group and no group above it is missing. */
  readonly known: boolean;
  readonly personal: boolean;
  /** The job's own group or personal namespace, even where the groups above it are not known. */
  readonly groupId?: number;
  readonly groupPath?: string;
  readonly projectId?: number;
  readonly projectPath?: string;
  readonly userId?: number;
  readonly visibility?: string;
}

export interface PlacedGroup {
  readonly id: number;
  readonly path?: string;
}

/** Identity that contradicts itself is not used: the subject it would name is unknown. */
export function placementOf(request: AdmissionRequest, directory: Directory | undefined): Placement {
  const doubt = doubted(request.suspicious);
  const claimed = {
    projectId: doubt.has('project') ? undefined : request.projectId,
    projectPath: doubt.has('path') ? undefined : request.projectPath,
    namespaceId: doubt.has('namespace') ? undefined : request.namespaceId,
    rootId: doubt.has('root') ? undefined : request.rootNamespaceId,
  };
  const project = claimed.projectId === undefined ? undefined : directory?.projectById.get(claimed.projectId);
  const found =
    directory === undefined ? withoutDirectory(claimed) : inDirectory(claimed, project, directory);
  const projectPath = claimed.projectPath ?? project?.path;
  const visibility = (doubt.has('visibility') ? undefined : request.projectVisibility) ?? project?.visibility;
  const own = found.known ? found.ancestors.at(-1) : undefined;
  const groupId = own?.id ?? claimed.namespaceId ?? project?.groupId;
  const groupPath = own?.path ?? (projectPath === undefined ? undefined : parentPath(projectPath));
  const userId = doubt.has('user') ? undefined : request.userId;
  const { projectId } = claimed;
  return { ...found, ...withoutAbsent({ groupId, groupPath, projectId, projectPath, userId, visibility }) };
}

type Claimed = Readonly<
  Record<'projectId' | 'namespaceId' | 'rootId', number | undefined> &
    Record<'projectPath', string | undefined>
>;

type Found = Pick<Placement, 'ancestors' | 'known' | 'personal'>;

const NOWHERE: Found = { ancestors: [], known: false, personal: false };

function withoutDirectory({ namespaceId, rootId, projectPath }: Claimed): Found {
  const path = projectPath === undefined ? undefined : parentPath(projectPath);
  const levels = path?.split('/').length;
  const ancestors: PlacedGroup[] = [];
  if (rootId !== undefined) ancestors.push(placed(rootId, path?.split('/')[0]));
  if (namespaceId !== undefined && namespaceId !== rootId) ancestors.push(placed(namespaceId, path));
  // Two ids are the whole chain only where the path has no level between them.
  const known = namespaceId !== undefined && rootId !== undefined && (namespaceId === rootId || levels === 2);
  return { ancestors, known, personal: false };
}

function inDirectory(claimed: Claimed, project: DirectoryProject | undefined, directory: Directory): Found {
  const { namespaceId, rootId, projectPath } = claimed;
  const groupId = namespaceId ?? project?.groupId;
  const chain = groupId === undefined ? undefined : directory.chainById.get(groupId);
  const root = chain?.[0];
  // The request is newer than the directory: a group whose root is another one by now has been moved.
  if (chain !== undefined && root !== undefined && (rootId === undefined || rootId === root.id)) {
    return { ancestors: chain, known: true, personal: chain.at(-1)?.personal ?? false };
  }
  if (rootId !== undefined) return rootOnly(rootId, directory.groupById.get(rootId));
  if (projectPath === undefined) return NOWHERE;
  const byPath = longestKnownPrefix(projectPath, directory);
  // An id that is not in the directory, at a path that is: the path has a new owner, below the same root at best.
  if (groupId !== undefined) return byPath?.[0] === undefined ? NOWHERE : rootOnly(byPath[0].id, byPath[0]);
  if (byPath === undefined) return NOWHERE;
  const own = byPath.at(-1);
  const known = own !== undefined && pathKey(own.path) === pathKey(parentPath(projectPath) ?? '');
  return { ancestors: byPath, known, personal: known && (own?.personal ?? false) };
}

const rootOnly = (id: number, group: DirectoryGroup | undefined): Found => ({
  ancestors: [group ?? { id }],
  known: false,
  personal: group?.personal ?? false,
});

function longestKnownPrefix(
  projectPath: string,
  directory: Directory,
): readonly DirectoryGroup[] | undefined {
  for (let path = parentPath(projectPath); path !== undefined; path = parentPath(path)) {
    const group = directory.groupByPath.get(pathKey(path));
    const chain = group && directory.chainById.get(group.id);
    if (chain !== undefined) return chain;
  }
  return undefined;
}

function parentPath(path: string): string | undefined {
  const slash = path.lastIndexOf('/');
  return slash <= 0 ? undefined : path.slice(0, slash);
}

const placed = (id: number, path: string | undefined): PlacedGroup =>
  path === undefined ? { id } : { id, path };

type Identity = 'project' | 'path' | 'namespace' | 'root' | 'user' | 'visibility';

const IDENTITIES: readonly (readonly [RegExp, Identity])[] = [
  [/^projectid$/, 'project'],
  [/^(projectpath|projectnamespace$)/, 'path'],
  [/^(projectnamespaceid|namespaceid)$/, 'namespace'],
  [/^(projectrootnamespace|rootnamespaceid)$/, 'root'],
  [/^(user|gitlabuserid$)/, 'user'],
  [/^projectvisibility$/, 'visibility'],
];

/** A field that names no identity (an image that came twice, say) takes none away. */
const NO_IDENTITY =
  /^(job|pipeline|mergerequest|schedule|bybot|runner|ref|environment|image|service|timeout|organization)/i;

/** The identities that contradicted themselves. A name that is not known here could be any, so all are doubted. */
function doubted(suspicious: readonly string[] = []): ReadonlySet<Identity> {
  const doubt = new Set<Identity>();
  for (const field of suspicious) {
    const name = field.replace(/^CI_/, '').replaceAll('_', '').toLowerCase();
    const known = IDENTITIES.find(([pattern]) => pattern.test(name));
    if (known !== undefined) doubt.add(known[1]);
    else if (!NO_IDENTITY.test(name)) return new Set(IDENTITIES.map(([, identity]) => identity));
  }
  return doubt;
}
