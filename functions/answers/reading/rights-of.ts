import type { Rights, Role, RoleName } from '../../core/limits/desk/role.ts';
import type { Roles } from '../../core/signin/user.ts';

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
