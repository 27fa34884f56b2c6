import type { Asker, Rights, Role, RoleName } from '../../core/limits/index.ts';
import type { Roles, User } from '../../core/signin/index.ts';

/** User id of callers without a GitLab sign-in, such as the command line; GitLab's ids start at 1. */
export const NO_USER_ID = 0;

/** Converts a signed-in user to an author: id, with the name for people. */
export const actingUser = ({ id, username, roles }: Pick<User, 'id' | 'username' | 'roles'>): Asker => ({
  actor: username,
  ...(id !== NO_USER_ID && { userId: id }),
  rights: rightsOf(roles),
});

/** Converts roles to rights on limits. */
export function rightsOf({ admin, finance, ownedGroupIds, viewerGroupIds }: Roles): Rights {
  const rights: Role[] = [];
  if (admin) rights.push({ role: 'admin' });
  if (finance) rights.push({ role: 'finance' });
  if (ownedGroupIds.length > 0) rights.push({ role: 'owner', groups: ownedGroupIds });
  if (viewerGroupIds.length > 0) rights.push({ role: 'viewer', groups: viewerGroupIds });
  return rights;
}

/** Strongest first. */
export const roleNames = (rights: Rights): readonly RoleName[] => rights.map(({ role }) => role);
