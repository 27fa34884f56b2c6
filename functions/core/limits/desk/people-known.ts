import type { LimitSet } from '../../../../policies/limits/limits.ts';

/**
 * Names of people by GitLab's user id, as far as the limits themselves know them: whoever asked for, approved, gave or
 * undid something here signed it with both. The last of several names in the document stands.
 */
export function peopleKnown({
  bySubject,
  freezes,
  breakGlasses = [],
}: Pick<LimitSet, 'bySubject' | 'freezes' | 'breakGlasses'>): ReadonlyMap<number, string> {
  const people = new Map<number, string>();
  const note = (id: number | undefined, name: string | undefined): void => {
    if (id !== undefined && name !== undefined) people.set(id, name);
  };
  for (const { grants = [] } of [...bySubject.values()].flat())
    for (const grant of grants) {
      note(grant.byUser, grant.by);
      note(grant.requestedByUser, grant.requestedBy);
      note(grant.approvedByUser, grant.approvedBy);
    }
  for (const freeze of [...(freezes?.values() ?? [])].flat()) note(freeze.byUser, freeze.by);
  for (const glass of breakGlasses) {
    note(glass.byUser, glass.by);
    note(glass.reviewed?.byUser, glass.reviewed?.by);
  }
  return people;
}
