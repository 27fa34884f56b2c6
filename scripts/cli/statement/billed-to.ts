import type { JobRecord } from '../../../functions/core/ledger/ledger.ts';
import { wasBelowPath, wasInGroup } from '../../../functions/core/truth/recorded-groups.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import { askedGroup, isAllGroups } from '../evaluation/unknown-place.ts';

/** The group whose jobs a statement bills: those that were decided in it or below it. */
export interface BilledGroup {
  readonly label: string;
  readonly counts: (record: JobRecord) => boolean;
  /** The directory does not know the group: older records may not say that they were below it. */
  readonly unknown: boolean;
  /** The subject whose counters are compared. */
  readonly subject: string | undefined;
  /** Call it once all jobs were asked about. @throws {UsageError} no job knows it either. */
  readonly check: () => void;
}

/** @param id - of the group that is called `text`; undefined: the directory knows no such path. */
export function billedTo(text: string, id: number | undefined, directory: Directory): BilledGroup {
  if (isAllGroups(text, directory))
    return { label: 'all groups', unknown: false, subject: 'instance', counts: () => true, check: () => {} };
  const group = id === undefined ? undefined : directory.groupById.get(id);
  const unknown = group === undefined;
  const counts = (record: JobRecord): boolean =>
    id === undefined ? wasBelowPath(record, text, directory) : wasInGroup(record, id, directory);
  return {
    label: group?.path ?? text,
    unknown,
    subject: id === undefined ? undefined : `group/${id}`,
    ...askedGroup({ counts, unknown }, text, directory),
  };
}
