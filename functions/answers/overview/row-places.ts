/** Rows of the overview: groups, and other subjects with a budget. */

import { isCap } from '../../../policies/limits/cap.ts';
import { type LimitSet, limitsOn, subjectKey } from '../../../policies/limits/limits.ts';
import type { DirectoryGroup } from '../../../policies/place/directory.ts';
import { type Places, type Scope, subjectLabelOf } from '../reading/scope.ts';
import { isBudget, type SubjectLimit, subjectLimitsBelow } from '../standing/group-limits.ts';

/** A project, runner class, runner or user that has limits of its own. */
interface OtherPlace {
  /** `project/7`, `runner-class/large`, `runner/41`, `user/5` */
  readonly subject: string;
  /** Full path of a project, name of a class, else the subject. */
  readonly path: string;
}

export type RowPlace = DirectoryGroup | OtherPlace;

export const isGroup = (place: RowPlace): place is DirectoryGroup => !('subject' in place);

/** `group/101`, `project/7` */
export const placeSubject = (place: RowPlace): string =>
  isGroup(place) ? subjectKey({ kind: 'group', id: place.id }) : place.subject;

/**
 * Unordered; uses limits in memory, without reads of the table.
 *
 * @param all - includes limits that cannot run out, such as jobs in flight, for searches
 */
export function otherPlaces(
  limits: LimitSet,
  { directory }: Places,
  scope: Scope,
  all: boolean,
): readonly OtherPlace[] {
  return [...limits.bySubject].flatMap(([subject, own]): OtherPlace[] => {
    if (subject === 'instance' || subject.startsWith('group/') || isCap(subject) || !scope.sees(subject))
      return [];
    return all || own.some(isBudget) ? [{ subject, path: subjectLabelOf(subject, directory) }] : [];
  });
}

/** Current limits; groups include their defaults. */
export const subjectLimitsOfPlace = (
  place: RowPlace,
  limits: LimitSet,
  nowMs: number,
): readonly SubjectLimit[] =>
  isGroup(place)
    ? subjectLimitsBelow(place, limits, nowMs)
    : limitsOn(limits, place.subject).map((limit) => ({ limit, byDefault: false }));
