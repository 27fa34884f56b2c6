import { rightsOf, roleNames } from '../reading/acting-user.ts';
import type { ReadContext } from '../reading/reading.ts';
import { NOWHERE, scopeOf, subjectLabelOf } from '../reading/scope.ts';
import type { Viewer } from '../reading/viewer.ts';
import type { RequestRow } from '../requests/model.ts';
import type { MeAnswer } from './model.ts';

const GROUPS_MAX = 200;

export const meOf =
  (reading: ReadContext, requests: (viewer: Viewer) => Promise<readonly RequestRow[]>) =>
  async (viewer: Viewer): Promise<MeAnswer> => {
    const [places = NOWHERE, rows] = await Promise.all([reading.places(), requests(viewer)]);
    const { directory } = places;
    const scope = scopeOf(viewer.roles, directory);
    const rights = rightsOf(viewer.roles);
    /** Nested groups are listed by the topmost alone: it stands for the others. */
    const isTop = (id: number): boolean =>
      !(directory.chainById.get(id) ?? []).some((group) => group.id !== id && scope.groupIds.has(group.id));
    const groups = [...scope.groupIds]
      .filter(isTop)
      .map((id) => ({
        id,
        path: subjectLabelOf(`group/${id}`, directory),
        role: scope.ownsGroup(id) ? ('owner' as const) : ('viewer' as const),
      }))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
    return {
      id: viewer.id,
      username: viewer.username,
      name: viewer.name,
      rights,
      roles: roleNames(rights),
      seesAll: scope.seesAll,
      groups: groups.slice(0, GROUPS_MAX),
      currency: reading.policy.currency,
      waiting: rows.filter(({ mayDecide }) => mayDecide).length,
    };
  };
