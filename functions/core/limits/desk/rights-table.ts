import type { Act, RoleName } from './role.ts';

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
