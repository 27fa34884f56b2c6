import type { Directory } from '../../../policies/place/directory.ts';
import type { Roles } from '../../core/signin/user.ts';

/** What somebody may see. Denied unless one of their groups is above, or is, what it is about. */
export interface Scope {
  /** The whole instance: finance and admins. */
  readonly seesAll: boolean;
  /** Groups they see with everything below; empty for who sees all. */
  readonly groupIds: ReadonlySet<number>;
  seesGroup(id: number): boolean;
  ownsGroup(id: number): boolean;
  /** @param subject - as in edits and rows; what is no group or project is for who sees all. */
  sees(subject: string): boolean;
}

const GROUP_OR_PROJECT = /^(group|project)\/(\d{1,15})$/;

export function scopeOf(roles: Roles, directory: Directory): Scope {
  const seesAll = roles.admin || roles.finance;
  const seen = new Set([...roles.ownedGroupIds, ...roles.viewerGroupIds]);
  const owned = new Set(roles.ownedGroupIds);
  const isBelow = (id: number, tops: ReadonlySet<number>): boolean =>
    tops.has(id) || (directory.chainById.get(id) ?? []).some((group) => tops.has(group.id));
  const seesGroup = (id: number): boolean => seesAll || isBelow(id, seen);
  return {
    seesAll,
    groupIds: seesAll ? new Set() : seen,
    seesGroup,
    ownsGroup: (id) => isBelow(id, owned),
    sees: (subject) => {
      if (seesAll) return true;
      const [, kind, id] = GROUP_OR_PROJECT.exec(subject) ?? [];
      if (id === undefined) return false;
      if (kind === 'group') return seesGroup(Number(id));
      const groupId = directory.projectById.get(Number(id))?.groupId;
      return groupId !== undefined && seesGroup(groupId);
    },
  };
}
