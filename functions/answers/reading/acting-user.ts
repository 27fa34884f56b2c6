import type { Asker, Rights, Role, RoleName } from '../../core/limits/index.ts';
import type { Roles, User } from '../../core/signin/index.ts';

/** The id of somebody who is not signed in with GitLab, whose ids begin at 1: whoever runs the command line. */
export const NO_USER_ID = 0;

/** Whoever is signed in, as the desk knows them: by id, with the name for reading. */
export const actingUser = ({ id, username, roles }: Pick<User, 'id' | 'username' | 'roles'>): Asker => ({
  actor: username,
  ...(id !== NO_USER_ID && { userId: id }),
  rights: rightsOf(roles),
});

/** What GitLab's groups make of somebody, as the desk asks for it. */
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
