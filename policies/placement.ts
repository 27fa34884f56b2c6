import { type Directory, type DirectoryGroup, type DirectoryProject, pathKey } from './directory.ts';
import type { AdmissionRequest } from './request/request.ts';

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
  /** `private`, `internal` or `public`, where known. */
  readonly visibility?: string;
}

export interface PlacedGroup {
  readonly id: number;
  readonly path?: string;
}

/**
 * Finds a job's groups. Identity that contradicts itself is not used: the subject it would name is unknown. The groups
 * between root and namespace stay unknown if there is no directory, and `known` says so.
 */
export function placementOf(request: AdmissionRequest, directory: Directory | undefined): Placement {
  const doubt = doubted(request.suspicious);
  const claimed = {
    projectId: doubt.project ? undefined : request.projectId,
    projectPath: doubt.path ? undefined : request.projectPath,
    namespaceId: doubt.namespace ? undefined : request.namespaceId,
    rootId: doubt.root ? undefined : request.rootNamespaceId,
  };
  const project = claimed.projectId === undefined ? undefined : directory?.projectById.get(claimed.projectId);
  const found =
    directory === undefined ? withoutDirectory(claimed) : inDirectory(claimed, project, directory);
  const projectPath = claimed.projectPath ?? project?.path;
  const visibility = (doubt.visibility ? undefined : request.projectVisibility) ?? project?.visibility;
  const own = found.known ? found.ancestors.at(-1) : undefined;
  const groupId = own?.id ?? claimed.namespaceId ?? project?.groupId;
  const groupPath = own?.path ?? (projectPath === undefined ? undefined : parentPath(projectPath));
  return {
    ...found,
    ...(groupId !== undefined && { groupId }),
    ...(groupPath !== undefined && { groupPath }),
    ...(claimed.projectId !== undefined && { projectId: claimed.projectId }),
    ...(projectPath !== undefined && { projectPath }),
    ...(request.userId !== undefined && !doubt.user && { userId: request.userId }),
    ...(visibility !== undefined && { visibility }),
  };
}

interface Claimed {
  readonly projectId: number | undefined;
  readonly projectPath: string | undefined;
  readonly namespaceId: number | undefined;
  readonly rootId: number | undefined;
}

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

/** `acme/payments/api` → `acme/payments`; nothing above the first component. */
function parentPath(path: string): string | undefined {
  const slash = path.lastIndexOf('/');
  return slash <= 0 ? undefined : path.slice(0, slash);
}

const placed = (id: number, path: string | undefined): PlacedGroup =>
  path === undefined ? { id } : { id, path };

/** Which of a request's identities contradicted themselves and must not be used. */
interface Doubted {
  readonly project: boolean;
  readonly path: boolean;
  readonly namespace: boolean;
  readonly root: boolean;
  readonly user: boolean;
  readonly visibility: boolean;
}

const NO_DOUBT: Doubted = {
  project: false,
  path: false,
  namespace: false,
  root: false,
  user: false,
  visibility: false,
};
const ALL_DOUBT: Doubted = {
  project: true,
  path: true,
  namespace: true,
  root: true,
  user: true,
  visibility: true,
};

/** A field that names no identity (an image that came twice, say) takes none away. */
const NO_IDENTITY =
  /^(job|pipeline|mergerequest|schedule|bybot|runner|ref|environment|image|service|timeout|organization)/i;

/**
 * Reads `AdmissionRequest.suspicious`. A doubted project takes its groups along unless ids name them; a name that is
 * not known here could be any identity, so all are doubted.
 */
function doubted(suspicious: readonly string[] | undefined): Doubted {
  if (suspicious === undefined || suspicious.length === 0) return NO_DOUBT;
  let doubt = NO_DOUBT;
  for (const field of suspicious) {
    const name = field.replace(/^CI_/, '').replaceAll('_', '').toLowerCase();
    if (name === 'projectid') doubt = { ...doubt, project: true };
    else if (name.startsWith('projectpath') || name === 'projectnamespace') doubt = { ...doubt, path: true };
    else if (name === 'projectnamespaceid' || name === 'namespaceid') doubt = { ...doubt, namespace: true };
    else if (name === 'projectrootnamespace' || name === 'rootnamespaceid') doubt = { ...doubt, root: true };
    else if (name.startsWith('user') || name === 'gitlabuserid') doubt = { ...doubt, user: true };
    else if (name === 'projectvisibility') doubt = { ...doubt, visibility: true };
    else if (NO_IDENTITY.test(name)) continue;
    else return ALL_DOUBT;
  }
  return doubt;
}
