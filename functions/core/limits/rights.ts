import type { Directory } from '../../../policies/directory.ts';
import { placeOfSubject } from '../../../policies/limits/cap.ts';
import { type LimitSet, limitsOn } from '../../../policies/limits/limits.ts';
import { isValidAt } from '../../../policies/limits/period.ts';
import { joinedText } from '../../../policies/text/plain-text.ts';
import type { Unit } from '../../../policies/unit.ts';
import { binds } from './change-rows.ts';
import type { ChangeRow } from './edit-model.ts';
import type { Act, Denial, LimitRequest, Person, Rights, Role, RoleName } from './edit-outcomes.ts';
import { groupsAbove } from './subject-text.ts';

/**
 * Returns true if both may be the same person, for approvals by another person: without two ids, equal names
 * count as the same.
 */
export const mayBeSame = (one: Person, other: Person): boolean =>
  one.userId !== undefined && other.userId !== undefined
    ? one.userId === other.userId
    : one.actor.toLowerCase() === other.actor.toLowerCase();

/** Returns true if both are certainly the same person: an id never equals a name. */
export const isSamePerson = (one: Person, other: Person): boolean =>
  one.userId === undefined && other.userId === undefined
    ? one.actor === other.actor
    : one.userId === other.userId;

/**
 * Reach of a role. `subtree`: its groups and everything below. `below`: only below them, and only in a unit
 * with an enforced limit above, so that a loosened limit is still bounded by one that the role may not
 * loosen.
 */
type Reach = 'none' | 'below' | 'subtree' | 'all';

/**
 * Rights on limits. Loosening needs a stronger right than tightening. No limits document weakens a security
 * rule, so no right here does.
 */
const RIGHTS: Readonly<Record<Act, Readonly<Record<RoleName, Reach>> & { readonly words: string }>> = {
  view: { words: 'see it', viewer: 'subtree', owner: 'subtree', finance: 'all', admin: 'all' },
  ask: { words: 'ask for more', viewer: 'subtree', owner: 'subtree', finance: 'all', admin: 'all' },
  /** Changes without effect on jobs: owner, contact, soft part, thresholds, reason; a review. */
  describe: { words: 'describe it', viewer: 'none', owner: 'subtree', finance: 'all', admin: 'all' },
  tighten: { words: 'tighten it', viewer: 'none', owner: 'subtree', finance: 'all', admin: 'all' },
  /** Raise, lift, remove, make milder. An owner may also lift a freeze that was the owner's own. */
  loosen: { words: 'loosen it', viewer: 'none', owner: 'below', finance: 'all', admin: 'all' },
  grant: { words: 'give a grant', viewer: 'none', owner: 'below', finance: 'all', admin: 'all' },
  approve: { words: 'approve it', viewer: 'none', owner: 'below', finance: 'all', admin: 'all' },
  'break-glass': { words: 'break glass', viewer: 'none', owner: 'none', finance: 'all', admin: 'all' },
  'roll-out': { words: 'roll rules out', viewer: 'none', owner: 'none', finance: 'all', admin: 'all' },
  /** The other way: it may switch off every limit below a group. */
  'roll-back': { words: 'roll rules back', viewer: 'none', owner: 'none', finance: 'none', admin: 'all' },
};

export const ROLES: readonly RoleName[] = ['viewer', 'owner', 'finance', 'admin'];

const WORDS: Readonly<Record<Exclude<RoleName, 'owner'>, string>> = {
  viewer: 'a member of the group',
  finance: 'of finance',
  admin: 'an administrator',
};

export const actText = (act: Act): string => RIGHTS[act].words;

/** `an owner of a group above, of finance or an administrator`: what one must be, for `you must be …`. */
export function rolesText(act: Act, roles: readonly RoleName[]): string {
  const words = roles.map((role) => (role === 'owner' ? ownerWords(act) : WORDS[role]));
  return words.length === 0 ? 'nobody' : joinedText(words, 'or');
}

/** Owners cannot loosen their own bounds: it takes an owner further up. */
const ownerWords = (act: Act): string =>
  RIGHTS[act].owner === 'below' ? 'an owner of a group above' : 'an owner of the group';

export interface RightsContext {
  readonly limits: LimitSet;
  /** Undefined: unknown, and then no user has a subtree. */
  readonly directory: Directory | undefined;
  readonly nowMs: number;
}

const LOOSENING: Readonly<Partial<Record<ChangeRow['about'], Act>>> = {
  ...{ grant: 'grant', breakglass: 'break-glass', rollout: 'roll-back' },
};

function actOf({ about, effect }: ChangeRow): Act {
  if (effect === 'neutral') return 'describe';
  if (effect === 'tightens') return about === 'rollout' ? 'roll-out' : 'tighten';
  return LOOSENING[about] ?? 'loosen';
}

export function deniedOf(
  rows: readonly ChangeRow[],
  by: Person & { readonly rights: Rights },
  context: RightsContext,
): readonly Denial[] {
  return rows.flatMap((row): readonly Denial[] => {
    const act = actOf(row);
    if (mayDo(act, row.subject, by.rights, context, row.unit)) return [];
    if (liftsOwnFreeze(row, by, context) && mayDo('tighten', row.subject, by.rights, context)) return [];
    return [{ row, act, needs: rolesFor(act, row.subject, { ...context, unit: row.unit }) }];
  });
}

/** @param unit - of the limit it is about: `below` asks for a limit of this unit above. */
export function mayDo(
  act: Act,
  subject: string,
  rights: Rights,
  context: RightsContext,
  unit?: Unit,
): boolean {
  return rights.some((role) => reaches(RIGHTS[act][role.role], role, subject, context, unit));
}

export const rolesFor = (
  act: Act,
  subject?: string,
  held?: RightsContext & { readonly unit: Unit | undefined },
): readonly RoleName[] =>
  ROLES.filter((role) => {
    const reach = RIGHTS[act][role];
    if (reach === 'all' || reach === 'none') return reach === 'all';
    if (subject === undefined) return true;
    if (!/^(?:group|project)\//.test(subject)) return false;
    if (reach === 'subtree' || held === undefined) return true;
    const { unit } = held;
    return groupsAbove(subject, held.directory).some((group) => holds(group, unit, held));
  });

function reaches(
  reach: Reach,
  role: Role,
  subject: string,
  context: RightsContext,
  unit: Unit | undefined,
): boolean {
  if (reach === 'none' || reach === 'all') return reach === 'all';
  if (role.role !== 'viewer' && role.role !== 'owner') return false;
  if (role.groups === 'all') return true;
  const groups = role.groups.map((id) => `group/${id}`);
  const above = groupsAbove(subject, context.directory);
  if (reach === 'subtree') return [...above, placeOfSubject(subject)].some((each) => groups.includes(each));
  const top = above.findIndex((group) => groups.includes(group));
  return top >= 0 && above.slice(0, top + 1).some((group) => holds(group, unit, context));
}

/** Returns true if an enforced limit of the group bounds this unit. An unknown unit is bounded by none. */
export const holds = (
  group: string,
  unit: Unit | undefined,
  { limits, nowMs }: Pick<RightsContext, 'limits' | 'nowMs'>,
): boolean =>
  limitsOn(limits, group).some((limit) => limit.unit === unit && binds(limit) && isValidAt(limit, nowMs));

function liftsOwnFreeze(
  { about, subject, limit }: ChangeRow,
  by: Person,
  { limits }: RightsContext,
): boolean {
  if (about !== 'freeze') return false;
  const freeze = limits.freezes?.get(subject)?.find(({ id }) => id === limit);
  if (freeze?.by === undefined) return false;
  const frozenBy = { actor: freeze.by, ...(freeze.byUser !== undefined && { userId: freeze.byUser }) };
  return isSamePerson(frozenBy, by);
}

export const mayApprove = (request: LimitRequest, rights: Rights, context: RightsContext): boolean =>
  unitsOf(request, context).every((unit) => mayDo('approve', request.subject, rights, context, unit));

export const approversOf = (request: LimitRequest, context: RightsContext): readonly RoleName[] =>
  rolesFor('approve', request.subject, { ...context, unit: unitsOf(request, context)[0] });

/** Units of the raised limits; an owner needs a limit of each above. */
export function unitsOf(
  request: LimitRequest,
  { limits }: Pick<RightsContext, 'limits'>,
): readonly (Unit | undefined)[] {
  const { edit, subject, limit } = request;
  return edit === undefined || edit.units.length === 0
    ? [limitsOn(limits, subject).find(({ id }) => id === limit)?.unit]
    : edit.units;
}
