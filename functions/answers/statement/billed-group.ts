import { type Directory, pathKey } from '../../../policies/place/directory.ts';
import type { JobRecord } from '../../core/ledger/index.ts';
import { wasBelowPath, wasInGroup } from '../../core/truth/index.ts';

/** The word for everything there is; a group that is called so is meant first. */
const EVERYTHING = 'instance';

/** The group whose jobs a statement bills: those that were decided in it or below it. */
export interface BilledGroup {
  readonly label: string;
  /** Absent: everything, or the directory knows no such path. */
  readonly id?: number;
  readonly counts: (record: JobRecord) => boolean;
  /** The directory does not know the group: older records may not say that they were below it. */
  readonly unknown: boolean;
  /** The subject whose usage days are added up. */
  readonly subject: string | undefined;
}

/** @param text - an id, a full path or `instance`. */
export function billedGroup(text: string, directory: Directory): BilledGroup {
  const { groupByPath, groupById } = directory;
  if (text === EVERYTHING && !groupByPath.has(EVERYTHING))
    return { label: 'all groups', unknown: false, subject: EVERYTHING, counts: () => true };
  const id = /^\d{1,15}$/.test(text) ? Number(text) : groupByPath.get(pathKey(text))?.id;
  if (id === undefined)
    return {
      label: text,
      unknown: true,
      subject: undefined,
      counts: (record) => wasBelowPath(record, text, directory),
    };
  const group = groupById.get(id);
  return {
    id,
    label: group?.path ?? text,
    unknown: group === undefined,
    subject: `group/${id}`,
    counts: (record) => wasInGroup(record, id, directory),
  };
}
