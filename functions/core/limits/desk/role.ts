/** Roles, the table of what each may do with limits, and how that is said. */
import { joinedText } from '../../../../policies/text/plain-text.ts';
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

/** A difference somebody may not make, and who may. */
export interface Denial {
  readonly row: ChangeRow;
  readonly act: Act;
  /** Who may, weakest first. */
  readonly needs: readonly RoleName[];
}

/**
 * How far a role reaches. `subtree`: its groups and everything below them. `below`: what is below them, and only in a
 * unit that an enforced limit above holds, so that whatever is loosened there is still held by what the role may not
 * loosen.
 */
export type Reach = 'none' | 'below' | 'subtree' | 'all';

/**
 * Who may do what with limits. Loosening needs a stronger right than tightening, and nothing in a limits document weakens
 * a security rule, so no right here does either.
 */
export const RIGHTS: Readonly<Record<Act, Readonly<Record<RoleName, Reach>>>> = {
  /** Read limits, usage and history. */
  view: { viewer: 'subtree', owner: 'subtree', finance: 'all', admin: 'all' },
  /** Ask for more. */
  ask: { viewer: 'subtree', owner: 'subtree', finance: 'all', admin: 'all' },
  /** What stops no job and lets none in: owner, contact, soft part, thresholds, reason; a review. */
  describe: { viewer: 'none', owner: 'subtree', finance: 'all', admin: 'all' },
  /** Lower, enforce, freeze, revoke, end a break-glass. */
  tighten: { viewer: 'none', owner: 'subtree', finance: 'all', admin: 'all' },
  /** Raise, lift, remove, make milder. An owner may also lift a freeze that was the owner's own. */
  loosen: { viewer: 'none', owner: 'below', finance: 'all', admin: 'all' },
  /** Give more for a time. */
  grant: { viewer: 'none', owner: 'below', finance: 'all', admin: 'all' },
  /** Approve what somebody else asked for. */
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

/** What an act is called, for `to … you must be …`. */
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

/** Nobody loosens what holds themselves: it takes an owner further up. */
const ownerWords = (act: Act): string =>
  RIGHTS[act].owner === 'below' ? 'an owner of a group above' : 'an owner of the group';
