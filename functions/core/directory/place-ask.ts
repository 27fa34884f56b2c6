import type { Directory } from '../../../policies/place/directory.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import type { DirectoryWish } from './directory-table.ts';

/** What says where a job stands; an admission request, a job's truth and a record's facts have it. */
export type PlaceAsk = Pick<
  AdmissionRequest,
  'projectId' | 'projectPath' | 'namespaceId' | 'rootNamespaceId' | 'suspicious'
>;

/**
 * What to ask GitLab about a job whose group is not known or is elsewhere by now. A project leads to its group, also to a
 * personal namespace, which has no call of its own. Identity that contradicts itself asks for nothing.
 */
export function wishFor(ask: PlaceAsk, directory: Directory): DirectoryWish | undefined {
  const { projectId, namespaceId, rootNamespaceId } = ask;
  if (ask.suspicious !== undefined && ask.suspicious.length > 0) return undefined;
  const project = projectId === undefined ? undefined : directory.projectById.get(projectId);
  const groupId = namespaceId ?? project?.groupId;
  const chain = groupId === undefined ? undefined : directory.chainById.get(groupId);
  const isPlaced = chain !== undefined && (rootNamespaceId === undefined || chain[0]?.id === rootNamespaceId);
  if (isPlaced) return undefined;
  if (projectId !== undefined && project === undefined) return { kind: 'project', id: projectId };
  return groupId === undefined ? undefined : { kind: 'group', id: groupId };
}
