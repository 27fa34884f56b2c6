/** Who may come in where: the shape of the tables of the API and of the pages. Denied unless it stands there. */
import { ROLES, whoMayText } from '../core/limits/index.ts';
import type { Roles } from '../core/signin/index.ts';

/** `theirs`: the door is open, and behind it read models and desk show and change nothing outside of their subtree. */
type Access = 'no' | 'theirs' | 'yes';

/** What somebody is; `none` is signed in and in none of the groups that make a role. */
type Standing = 'none' | 'viewer' | 'owner' | 'finance' | 'admin';

type Row = Readonly<Record<Standing, Access>>;

/** Keyed by method and path: `GET /groups/:id`. */
export type AccessTable = Readonly<Record<string, Row>>;

/** Whoever is signed in. */
export const ANYBODY: Row = { none: 'yes', viewer: 'yes', owner: 'yes', finance: 'yes', admin: 'yes' };
export const LOOK: Row = { none: 'no', viewer: 'theirs', owner: 'theirs', finance: 'yes', admin: 'yes' };
export const EDIT: Row = { none: 'no', viewer: 'no', owner: 'theirs', finance: 'yes', admin: 'yes' };
export const EVERYTHING: Row = { none: 'no', viewer: 'no', owner: 'no', finance: 'yes', admin: 'yes' };

export function standingsOf({ admin, finance, ownedGroupIds, viewerGroupIds }: Roles): readonly Standing[] {
  const standings: Standing[] = ['none'];
  if (viewerGroupIds.length > 0) standings.push('viewer');
  if (ownedGroupIds.length > 0) standings.push('owner');
  if (finance) standings.push('finance');
  if (admin) standings.push('admin');
  return standings;
}

/** @param route - one that is not in the table is nobody's. */
export const mayEnter = (table: AccessTable, route: string, roles: Roles): boolean => {
  const row = table[route];
  return row !== undefined && standingsOf(roles).some((standing) => row[standing] !== 'no');
};

/** `an owner of the group, of finance or an administrator`. */
export const whoMayEnter = (table: AccessTable, route: string): string => {
  const row = table[route];
  return whoMayText(
    'view',
    ROLES.filter((role) => row !== undefined && row[role] !== 'no'),
  );
};
