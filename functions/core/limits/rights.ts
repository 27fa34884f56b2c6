import { placeOfSubject } from '../../../policies/limits/cap.ts';
import { type LimitSet, limitsOn } from '../../../policies/limits/limits.ts';
import { isValidAt } from '../../../policies/limits/period.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import type { Unit } from '../../../policies/units/unit.ts';
import {
  type Act,
  type Denial,
  isSamePerson,
  type LimitRequest,
  type Person,
  type Reach,
  RIGHTS,
  type Rights,
  ROLES,
  type Role,
  type RoleName,
} from './edit-model.ts';
import { binds, type ChangeRow } from './limit-changes.ts';

/** Context of a check of rights. */
export interface RightsContext {
  /** As they are before the change. */
  readonly limits: LimitSet;
  /** Undefined: unknown, and then no user has a subtree. */
  readonly directory: Directory | undefined;
  readonly nowMs: number;
}

/** Returns the act that a change needs. */
function actOf({ about, effect }: ChangeRow): Act {
  if (effect === 'neutral') return 'describe';
  if (effect === 'tightens') return about === 'rollout' ? 'roll-out' : 'tighten';
  switch (about) {
    case 'grant':
      return 'grant';
    case 'breakglass':
      return 'break-glass';
    case 'rollout':
      return 'roll-back';
    default:
      return 'loosen';
  }
}

/** Returns the changes that a user may not make. */
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

/**
 * Lists roles with the right, weakest first. Without a subtree, only roles that reach everything.
 *
 * @param held - the subject; owners are listed only if a group above has one with the right.
 */
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
    return reach === 'subtree' || held === undefined || isHeldAbove(subject, held);
  });

function isHeldAbove(
  subject: string,
  { unit, ...context }: RightsContext & { readonly unit: Unit | undefined },
): boolean {
  return unit !== undefined && groupsAbove(subject, context.directory).some((id) => holds(id, unit, context));
}

function reaches(
  reach: Reach,
  role: Role,
  subject: string,
  context: RightsContext,
  unit: Unit | undefined,
): boolean {
  if (reach === 'none' || reach === 'all') return reach === 'all';
  const groups = role.role === 'viewer' || role.role === 'owner' ? role.groups : [];
  if (groups === 'all') return true;
  const above = groupsAbove(subject, context.directory);
  const place = placeOfSubject(subject);
  const own = place.startsWith('group/') ? Number(place.slice('group/'.length)) : undefined;
  if (reach === 'subtree')
    return above.some((id) => groups.includes(id)) || (own !== undefined && groups.includes(own));
  const top = above.findIndex((id) => groups.includes(id));
  return top >= 0 && unit !== undefined && above.slice(0, top + 1).some((id) => holds(id, unit, context));
}

/** Root first, the subject itself not among them; empty for what is in no group, or in one that is not known. */
function groupsAbove(subject: string, directory: Directory | undefined): readonly number[] {
  const [kind, id] = subject.split('/');
  if (kind === 'group')
    return (
      directory?.chainById
        .get(Number(id))
        ?.slice(0, -1)
        .map((group) => group.id) ?? []
    );
  if (kind !== 'project') return [];
  const groupId = directory?.projectById.get(Number(id))?.groupId;
  return groupId === undefined ? [] : (directory?.chainById.get(groupId)?.map((group) => group.id) ?? []);
}

const holds = (group: number, unit: Unit, { limits, nowMs }: RightsContext): boolean =>
  limits.bySubject
    .get(`group/${group}`)
    ?.some((limit) => limit.unit === unit && binds(limit) && isValidAt(limit, nowMs)) === true;

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

/** Returns true if a user may approve every part of a request. */
export const mayApprove = (request: LimitRequest, rights: Rights, context: RightsContext): boolean =>
  unitsOf(request, context).every((unit) => mayDo('approve', request.subject, rights, context, unit));

/** Lists roles that may approve, weakest first. */
export const approversOf = (request: LimitRequest, context: RightsContext): readonly RoleName[] =>
  rolesFor('approve', request.subject, { ...context, unit: unitsOf(request, context)[0] });

/** Units of the raised limits; an owner needs a limit of each above. */
function unitsOf(request: LimitRequest, { limits }: RightsContext): readonly (Unit | undefined)[] {
  const { edit, subject, limit } = request;
  return edit === undefined || edit.units.length === 0
    ? [limitsOn(limits, subject).find(({ id }) => id === limit)?.unit]
    : edit.units;
}
