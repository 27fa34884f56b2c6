/** Shape of the access tables of API and pages. Routes that are not listed are denied. */
import { ROLES, whoMayText } from '../core/limits/rights.ts';
import type { Roles } from '../core/signin/model.ts';

/** `theirs`: may open it; reads and limit edits are then cut to the caller's subtree. */
type Access = 'no' | 'theirs' | 'yes';

type Standing = 'job' | 'none' | 'viewer' | 'owner' | 'finance' | 'admin';

/** Jobs are let in where it says so, and nowhere else. */
type Row = Readonly<Record<Exclude<Standing, 'job'>, Access>> & { readonly job?: Access };

export type AccessTable = Readonly<Record<string, Row>>;

export const ANYBODY: Row = { none: 'yes', viewer: 'yes', owner: 'yes', finance: 'yes', admin: 'yes' };
export const LOOK: Row = { none: 'no', viewer: 'theirs', owner: 'theirs', finance: 'yes', admin: 'yes' };
export const LOOK_OR_JOB: Row = { ...LOOK, job: 'theirs' };
export const EDIT: Row = { none: 'no', viewer: 'no', owner: 'theirs', finance: 'yes', admin: 'yes' };
export const EVERYTHING: Row = { none: 'no', viewer: 'no', owner: 'no', finance: 'yes', admin: 'yes' };

export function standingsOf(roles: Roles): readonly Standing[] {
  const { admin, finance, ownedGroupIds, viewerGroupIds, jobOfProjectId } = roles;
  if (jobOfProjectId !== undefined) return ['job'];
  const standings: Standing[] = ['none'];
  if (viewerGroupIds.length > 0) standings.push('viewer');
  if (ownedGroupIds.length > 0) standings.push('owner');
  if (finance) standings.push('finance');
  if (admin) standings.push('admin');
  return standings;
}

export const mayEnter = (table: AccessTable, route: string, roles: Roles): boolean => {
  const row = table[route];
  return row !== undefined && standingsOf(roles).some((standing) => (row[standing] ?? 'no') !== 'no');
};

/** `an owner of the group, of finance or an administrator`. */
export const whoMayEnter = (table: AccessTable, route: string): string => {
  const row = table[route];
  return whoMayText(
    'view',
    ROLES.filter((role) => row !== undefined && row[role] !== 'no'),
  );
};
