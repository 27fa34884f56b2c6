/** Roles, their rights on limits, and their texts. */
import { joinedText } from '../../../../policies/text/plain-text.ts';
import type { ChangeRow } from '../changes/change-row.ts';

export type RoleName = 'viewer' | 'owner' | 'finance' | 'admin';

/** A user's role. Roles add up; without one a user may do nothing. */
export type Role =
  | { readonly role: 'viewer'; readonly groups: readonly number[] | 'all' }
  /** Owns these groups and everything below them. */
  | { readonly role: 'owner'; readonly groups: readonly number[] }
  | { readonly role: 'finance' }
  | { readonly role: 'admin' };

export type Rights = readonly Role[];

/** See {@link RIGHTS}. */
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

/** A refused change, and the roles that may make it. */
export interface Denial {
  readonly row: ChangeRow;
  readonly act: Act;
  /** Roles with the right, weakest first. */
  readonly needs: readonly RoleName[];
}

/**
 * Reach of a role. `subtree`: its groups and everything below. `below`: only below them, and only in a unit
 * with an enforced limit above, so that a loosened limit is still bounded by one that the role may not
 * loosen.
 */
export type Reach = 'none' | 'below' | 'subtree' | 'all';

/**
 * Rights on limits. Loosening needs a stronger right than tightening. No limits document weakens a security
 * rule, so no right here does.
 */
export const RIGHTS: Readonly<Record<Act, Readonly<Record<RoleName, Reach>>>> = {
  /** Read limits, usage and history. */
  view: { viewer: 'subtree', owner: 'subtree', finance: 'all', admin: 'all' },
  /** Ask for more. */
  ask: { viewer: 'subtree', owner: 'subtree', finance: 'all', admin: 'all' },
  /** Changes without effect on jobs: owner, contact, soft part, thresholds, reason; a review. */
  describe: { viewer: 'none', owner: 'subtree', finance: 'all', admin: 'all' },
  /** Lower, enforce, freeze, revoke, end a break-glass. */
  tighten: { viewer: 'none', owner: 'subtree', finance: 'all', admin: 'all' },
  /** Raise, lift, remove, make milder. An owner may also lift a freeze that was the owner's own. */
  loosen: { viewer: 'none', owner: 'below', finance: 'all', admin: 'all' },
  /** Give more for a time. */
  grant: { viewer: 'none', owner: 'below', finance: 'all', admin: 'all' },
  /** Approve another user's request. */
  approve: { viewer: 'none', owner: 'below', finance: 'all', admin: 'all' },
  /** Let jobs pass all limits for a time. */
  'break-glass': { viewer: 'none', owner: 'none', finance: 'all', admin: 'all' },
  /** Let the rules of a class go further in a group. */
  'roll-out': { viewer: 'none', owner: 'none', finance: 'all', admin: 'all' },
  /** The other way: it may switch off every limit below a group. */
  'roll-back': { viewer: 'none', owner: 'none', finance: 'none', admin: 'all' },
};

/** Weakest first. */
export const ROLES: readonly RoleName[] = ['viewer', 'owner', 'finance', 'admin'];

const WORDS: Readonly<Record<Exclude<RoleName, 'owner'>, string>> = {
  viewer: 'a member of the group',
  finance: 'of finance',
  admin: 'an administrator',
};

/** Texts of acts, for `to … you must be …`. */
export const ACT_WORDS: Readonly<Record<Act, string>> = {
  view: 'see it',
  describe: 'describe it',
  tighten: 'tighten it',
  loosen: 'loosen it',
  grant: 'give a grant',
  'break-glass': 'break glass',
  approve: 'approve it',
  'roll-out': 'roll rules out',
  'roll-back': 'roll rules back',
  ask: 'ask for more',
};

/** `an owner of a group above, of finance or an administrator`: what one must be, for `you must be …`. */
export function whoMayText(act: Act, roles: readonly RoleName[]): string {
  const words = roles.map((role) => (role === 'owner' ? ownerWords(act) : WORDS[role]));
  return words.length === 0 ? 'nobody' : joinedText(words, 'or');
}

/** Owners cannot loosen their own bounds: it takes an owner further up. */
const ownerWords = (act: Act): string =>
  RIGHTS[act].owner === 'below' ? 'an owner of a group above' : 'an owner of the group';
