import type { JobRecord } from '../../../functions/core/ledger/index.ts';
import { type Directory, pathKey } from '../../../policies/place/directory.ts';
import { askedGroup, isAllGroups } from '../evaluation/unknown-place.ts';

/** The group a report is about, with everything below it. */
interface GroupFilter {
  readonly label: string;
  readonly counts: (record: JobRecord) => boolean;
  /** The directory does not know it: jobs are found by what their records say, groups between may be missed. */
  readonly unknown: boolean;
  /** Call it once all jobs were asked about. @throws {UsageError} no job knows it either. */
  readonly check: () => void;
}

/** @param text - an id, a full path or `instance`. Ids decide; a path that was renamed since is found by the directory's. */
export function groupFilter(text: string, directory: Directory): GroupFilter {
  if (isAllGroups(text, directory))
    return { label: 'all groups', unknown: false, counts: () => true, check: () => {} };
  const id = /^\d{1,15}$/.test(text) ? Number(text) : directory.groupByPath.get(pathKey(text))?.id;
  const path = id === undefined ? text : directory.groupById.get(id)?.path;
  const unknown = id === undefined || !directory.groupById.has(id);
  const counts = ({ facts }: JobRecord): boolean => {
    if (id !== undefined && (facts.groupId === id || facts.rootId === id)) return true;
    const chain = facts.groupId === undefined ? undefined : directory.chainById.get(facts.groupId);
    // If the directory has the job's group, it has its ancestors.
    if (chain !== undefined) return chain.some((group) => group.id === id);
    return path !== undefined && isBelow(facts.projectPath, path);
  };
  return { label: path ?? text, unknown, ...askedGroup({ counts, unknown }, text, directory) };
}

const isBelow = (projectPath: string | undefined, group: string): boolean =>
  projectPath !== undefined && pathKey(projectPath).startsWith(`${pathKey(group)}/`);
