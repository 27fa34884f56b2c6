import { count, flag, list, text, z } from '../../core/schema.ts';
import { type Caller, type ReadContext, readPlaces, rightsOf } from '../reading/context.ts';
import { byPath, formatSubjectLabel } from '../reading/scope.ts';

export const roleName = z.enum(['viewer', 'owner', 'finance', 'admin']);

export const MeSchema = z
  .object({
    id: count('GitLab’s id.'),
    username: text(),
    name: text(),
    roles: list(roleName, 'Strongest first; empty: signed in without a role.'),
    seesAll: flag('Sees the whole instance.'),
    groups: list(
      z.object({ id: count(), path: text(), role: z.enum(['owner', 'viewer']) }),
      'Topmost visible groups, by path; at most 200. Empty for callers who see everything.',
    ),
    currency: text('ISO 4217.'),
    waiting: count('Waiting requests of others that the caller may decide.'),
  })
  .openapi('Me');

export type MeAnswer = z.infer<typeof MeSchema>;

const GROUPS_MAX = 200;

export const meOf =
  (reading: ReadContext, waitingFor: (caller: Caller) => Promise<number>) =>
  async (caller: Caller): Promise<MeAnswer> => {
    const [{ directory, scope }, waiting] = await Promise.all([
      readPlaces(reading, caller),
      waitingFor(caller),
    ]);
    const { id, username, name } = caller;
    const roles = rightsOf(caller.roles).map(({ role }) => role);
    const groups = scope.topGroupIds
      .map((groupId) => ({
        id: groupId,
        path: formatSubjectLabel(`group/${groupId}`, directory),
        role: scope.ownsGroup(groupId) ? ('owner' as const) : ('viewer' as const),
      }))
      .sort(byPath);
    return {
      ...{ id, username, name, roles, waiting, seesAll: scope.seesAll },
      groups: groups.slice(0, GROUPS_MAX),
      currency: reading.policy.currency,
    };
  };
