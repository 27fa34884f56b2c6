import { limitsOn } from '../../../../../policies/limits/limits.ts';
import type { Unit } from '../../../../../policies/units/unit.ts';
import type { LimitRequest } from '../limit-request.ts';
import { mayDo, type RightsContext, rolesFor } from '../rights.ts';
import type { Rights, RoleName } from '../role.ts';

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
