import type { ChangeRow } from '../changes/change-row.ts';

export type RoleName = 'viewer' | 'owner' | 'finance' | 'admin';

/** What somebody is. Several add up; none may do nothing. */
export type Role =
  | { readonly role: 'viewer'; readonly groups: readonly number[] | 'all' }
  /** Owns these groups and everything below them. */
  | { readonly role: 'owner'; readonly groups: readonly number[] }
  | { readonly role: 'finance' }
  | { readonly role: 'admin' };

export type Rights = readonly Role[];

/** See `rights-table.ts`. */
export type Act =
  | 'view'
  | 'describe'
  | 'tighten'
  | 'loosen'
  | 'grant'
  | 'break-glass'
  | 'approve'
  | 'roll-out'
  | 'roll-back'
  | 'ask';

/** A difference somebody may not make, and who may. */
export interface Denial {
  readonly row: ChangeRow;
  readonly act: Act;
  /** Who may, weakest first. */
  readonly needs: readonly RoleName[];
}
