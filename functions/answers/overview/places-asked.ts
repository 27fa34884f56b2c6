import { limitsOn } from '../../../policies/limits/limits.ts';
import { type DirectoryGroup, pathKey } from '../../../policies/place/directory.ts';
import type { Places, Scope } from '../reading/scope.ts';
import { placedChainOf } from '../reading/subjects-above.ts';
import type { GroupRowsContext } from './group-rows.ts';
import type { OverviewQuery } from './model.ts';
import { otherPlaces, placeSubject, type RowPlace } from './row-places.ts';

const SEARCH_CHARACTERS_MAX = 200;

/**
 * Lists visible matches by path. Personal namespaces, one per user, appear only in searches or with their
 * own limit.
 */
export function placesAsked(
  asked: OverviewQuery,
  { limits, places, scope }: GroupRowsContext,
): readonly RowPlace[] {
  const search = pathKey((asked.search ?? '').trim().slice(0, SEARCH_CHARACTERS_MAX));
  const groups = inScope(asked.under, places, scope).filter(
    (group) =>
      (search === '' || pathKey(group.path).includes(search)) &&
      (asked.mine !== true || scope.ownsGroup(group.id)) &&
      (!group.personal || search !== '' || limitsOn(limits, placeSubject(group)).length > 0),
  );
  // A step of the tree is groups alone.
  if (asked.under !== undefined) return groups;
  const others = otherPlaces(limits, places, scope, search !== '').filter(
    ({ subject, path }) =>
      (search === '' || pathKey(path).includes(search) || subject.includes(search)) &&
      (asked.mine !== true || placedChainOf(subject, places.directory).some(({ id }) => scope.ownsGroup(id))),
  );
  return others.length === 0 ? groups : [...groups, ...others].sort(byPath);
}

const byPath = (a: RowPlace, b: RowPlace): number => (a.path === b.path ? 0 : a.path < b.path ? -1 : 1);

function inScope(under: OverviewQuery['under'], places: Places, scope: Scope): readonly DirectoryGroup[] {
  const { groups, childrenOf } = places;
  if (under === 'roots')
    return groups.filter(
      ({ id, parentId }) => scope.seesGroup(id) && (parentId === undefined || !scope.seesGroup(parentId)),
    );
  if (under !== undefined) return scope.seesGroup(under) ? (childrenOf.get(under) ?? []) : [];
  return scope.seesAll ? groups : groups.filter(({ id }) => scope.seesGroup(id));
}
