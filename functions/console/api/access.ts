/**
 * Who may call what: the table that the API enforces before anything else runs. Denied unless it stands here.
 *
 * `theirs`: the door is open, and behind it read models and desk show and change nothing outside of their subtree.
 */
import type { Roles } from '../../signin/user.ts';

export type Access = 'no' | 'theirs' | 'yes';

/** What somebody is; `none` is signed in and in none of the groups that make a role. */
export type Standing = 'none' | 'viewer' | 'owner' | 'finance' | 'admin';

type Row = Readonly<Record<Standing, Access>>;

/** Whoever is signed in. */
const ANYBODY: Row = { none: 'yes', viewer: 'yes', owner: 'yes', finance: 'yes', admin: 'yes' };
const LOOK: Row = { none: 'no', viewer: 'theirs', owner: 'theirs', finance: 'yes', admin: 'yes' };
const EDIT: Row = { none: 'no', viewer: 'no', owner: 'theirs', finance: 'yes', admin: 'yes' };
const EVERYTHING: Row = { none: 'no', viewer: 'no', owner: 'no', finance: 'yes', admin: 'yes' };

/** By method and path below `/api/v1`. */
export const ACCESS: Readonly<Record<string, Row>> = {
  'GET /openapi.json': ANYBODY,
  'GET /me': ANYBODY,
  'GET /groups': LOOK,
  'GET /groups/:id': LOOK,
  'GET /projects/:id': LOOK,
  'GET /runner-classes/:name': EVERYTHING,
  'GET /instance': EVERYTHING,
  'GET /usage': LOOK,
  'GET /jobs/:word': LOOK,
  'GET /shadow': LOOK,
  'GET /limits': LOOK,
  'GET /limits/history': LOOK,
  'POST /limits/preview': EDIT,
  'POST /limits/edits': EDIT,
  'GET /limits.csv': EVERYTHING,
  'POST /limits/import': EVERYTHING,
  'POST /grants': EDIT,
  'POST /grants/:id/revoke': EDIT,
  'POST /freezes': EDIT,
  'POST /freezes/:id/lift': EDIT,
  'GET /breakglass': LOOK,
  'POST /breakglass': EVERYTHING,
  'POST /breakglass/:id/end': EDIT,
  'POST /breakglass/:id/review': EDIT,
  'GET /requests': LOOK,
  'POST /requests': LOOK,
  'POST /requests/:id/decision': EDIT,
};

const STANDINGS: readonly Standing[] = ['none', 'viewer', 'owner', 'finance', 'admin'];

export function standingsOf({ admin, finance, ownedGroupIds, viewerGroupIds }: Roles): readonly Standing[] {
  const standings: Standing[] = ['none'];
  if (viewerGroupIds.length > 0) standings.push('viewer');
  if (ownedGroupIds.length > 0) standings.push('owner');
  if (finance) standings.push('finance');
  if (admin) standings.push('admin');
  return standings;
}

/** @param route - `GET /groups/:id`; one that is not in the table is nobody's. */
export const mayCall = (route: string, roles: Roles): boolean => {
  const row = ACCESS[route];
  return row !== undefined && standingsOf(roles).some((standing) => row[standing] !== 'no');
};

/** Who may, weakest first. */
export const whoMay = (route: string): readonly Standing[] => {
  const row = ACCESS[route];
  return row === undefined
    ? []
    : STANDINGS.filter((standing) => standing !== 'none' && row[standing] !== 'no');
};
