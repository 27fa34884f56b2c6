import { RIGHTS } from './rights-table.ts';
import type { Act, RoleName } from './role.ts';

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
  return words.length < 2 ? (words[0] ?? 'nobody') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

/** Nobody loosens what holds themselves: it takes an owner further up. */
const ownerWords = (act: Act): string =>
  RIGHTS[act].owner === 'below' ? 'an owner of a group above' : 'an owner of the group';
