/** Which groups a job was in when it was decided. Where they were moved since changes no bill. */
import { subjectKey } from '../../../policies/limits/limits.ts';
import { type Directory, pathKey } from '../../../policies/place/directory.ts';
import type { JobRecord } from '../ledger/index.ts';

/**
 * Returns true if the job's recorded groups include this one. Older records have only the root, the own
 * group and the counted groups; today's directory fills the gap, unless the group has another root now.
 */
export function wasInGroup(record: JobRecord, id: number, { chainById }: Directory): boolean {
  const { rootId, groupId, groupIds } = record.facts;
  if (groupIds !== undefined) return groupIds.includes(id) || groupId === id;
  if (rootId === id || groupId === id || isCountedOn(record, id)) return true;
  const chain = groupId === undefined ? undefined : chainById.get(groupId);
  return chain !== undefined && chain[0]?.id === rootId && chain.some((group) => group.id === id);
}

/** Returns the top-level group at the decision: its statement has the job. Undefined where no group of the job was known. */
export const recordedRoot = ({ facts: { groupIds, rootId, groupId } }: JobRecord): number | undefined =>
  groupIds?.[0] ?? rootId ?? groupId;

/**
 * Like {@link wasInGroup}, for a group that the directory does not know by this path. The path of the record decides; but where the
 * directory knows the job's root, the path must be below that root, or two names of one root would both be charged.
 */
export function wasBelowPath({ facts }: JobRecord, path: string, { groupById }: Directory): boolean {
  const { projectPath, rootId } = facts;
  if (projectPath === undefined || !pathKey(projectPath).startsWith(`${pathKey(path)}/`)) return false;
  const root = rootId === undefined ? undefined : groupById.get(rootId);
  return root === undefined || pathKey(root.path) === pathKey(path).split('/')[0];
}

/** True if no group was known at the decision: it is on no statement. */
export const isInNoGroup = ({ facts, claims }: JobRecord): boolean =>
  facts.rootId === undefined &&
  facts.groupId === undefined &&
  !claims.some(({ counter }) => counter.subject.startsWith('group/'));

const isCountedOn = ({ claims }: JobRecord, id: number): boolean => {
  const subject = subjectKey({ kind: 'group', id });
  return claims.some(({ counter }) => counter.subject === subject);
};
