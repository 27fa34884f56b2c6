import type { JobRecord } from '../../../functions/ledger/ledger.ts';
import { wasBelowPath, wasInGroup } from '../../../functions/truth/recorded-groups.ts';
import type { Directory } from '../../../policies/place/directory.ts';

/** Whose jobs a statement bills: those that were decided in the group or below it. */
export interface BilledGroup {
  readonly label: string;
  readonly counts: (record: JobRecord) => boolean;
  /** The directory does not know the group: older records may not say that they were below it. */
  readonly unknown: boolean;
}

/** @param id - of the group that is called `text`; undefined: the directory knows no such path. */
export function billedTo(text: string, id: number | undefined, directory: Directory): BilledGroup {
  if (id === undefined)
    return { label: text, unknown: true, counts: (record) => wasBelowPath(record, text, directory) };
  const group = directory.groupById.get(id);
  return {
    label: group?.path ?? text,
    unknown: group === undefined,
    counts: (record) => wasInGroup(record, id, directory),
  };
}
