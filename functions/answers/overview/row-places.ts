/** What has a line in the overview: groups, and whatever else somebody wrote a budget for. */

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
 * In no order. The limits are in memory: nothing is read from the table for it.
 *
 * @param all - also those whose limits cannot run out, such as jobs at once: who searches wants to find them
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

/** What a place is asked for now; groups include what they have by default. */
export const subjectLimitsOfPlace = (
  place: RowPlace,
  limits: LimitSet,
  nowMs: number,
): readonly SubjectLimit[] =>
  isGroup(place)
    ? subjectLimitsBelow(place, limits, nowMs)
    : limitsOn(limits, place.subject).map((limit) => ({ limit, byDefault: false }));
