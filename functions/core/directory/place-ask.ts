import type { Directory } from '../../../policies/place/directory.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import type { DirectoryWish } from './directory-table.ts';

/** Ids that locate a job, from an admission request, a job outcome or a record. */
export type PlaceAsk = Pick<
  AdmissionRequest,
  'projectId' | 'projectPath' | 'namespaceId' | 'rootNamespaceId' | 'suspicious'
>;

/**
 * Returns the id to resolve for a job whose group is unknown or has changed. A project leads to its group,
 * and to a personal namespace, which has no call of its own. Contradicting ids resolve nothing.
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
