/** Shape of the access tables of API and pages. Routes that are not listed are denied. */
import type { Context } from 'hono';
import { matchedRoutes } from 'hono/route';
import { ROLES, rolesText } from '../core/limits/rights.ts';
import type { Roles } from '../core/signin/model.ts';

/** `theirs`: may open it; reads and limit edits are then cut to the caller's subtree. */
type Access = 'no' | 'theirs' | 'yes';

type Level = 'none' | 'viewer' | 'owner' | 'finance' | 'admin';

/** Jobs may call only routes that list them. */
type Row = Readonly<Record<Level, Access>> & { readonly job?: Access };

export type AccessTable = Readonly<Record<string, Row>>;

export const ALL_USERS: Row = { none: 'yes', viewer: 'yes', owner: 'yes', finance: 'yes', admin: 'yes' };
export const READ: Row = { none: 'no', viewer: 'theirs', owner: 'theirs', finance: 'yes', admin: 'yes' };
export const READ_OR_JOB: Row = { ...READ, job: 'theirs' };
export const EDIT: Row = { none: 'no', viewer: 'no', owner: 'theirs', finance: 'yes', admin: 'yes' };
export const FINANCE: Row = { none: 'no', viewer: 'no', owner: 'no', finance: 'yes', admin: 'yes' };

export function accessLevels(roles: Roles): readonly (Level | 'job')[] {
  const { admin, finance, ownedGroupIds, viewerGroupIds, jobOfProjectId } = roles;
  if (jobOfProjectId !== undefined) return ['job'];
  const held = { viewer: viewerGroupIds.length > 0, owner: ownedGroupIds.length > 0, finance, admin };
  return ['none', ...ROLES.filter((role) => held[role])];
}

export const isRoleAllowed = (table: AccessTable, route: string, roles: Roles): boolean => {
  const row = table[route];
  return row !== undefined && accessLevels(roles).some((level) => (row[level] ?? 'no') !== 'no');
};

/** `an owner of the group, of finance or an administrator`. */
export const allowedRolesText = (table: AccessTable, route: string): string => {
  const row = table[route];
  return rolesText(
    'view',
    ROLES.filter((role) => row !== undefined && row[role] !== 'no'),
  );
};

/** Returns the route that handles a request, as `GET /groups/:id`. Undefined: only middleware matches. */
export function matchedRoute(c: Context): string | undefined {
  const method = c.req.method === 'HEAD' ? 'GET' : c.req.method;
  const path = matchedRoutes(c).findLast((each) => each.method === method)?.path;
  return path === undefined ? undefined : `${method} ${path}`;
}
