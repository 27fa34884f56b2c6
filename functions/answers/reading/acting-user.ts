import type { Asker } from '../../core/limits/desk/limit-request.ts';
import type { User } from '../../core/signin/user.ts';
import { rightsOf } from './rights-of.ts';

/** The id of somebody who is not signed in with GitLab, whose ids begin at 1: whoever runs the command line. */
export const NO_USER_ID = 0;

/** Whoever is signed in, as the desk knows them: by id, with the name for reading. */
export const actingUser = ({ id, username, roles }: Pick<User, 'id' | 'username' | 'roles'>): Asker => ({
  actor: username,
  ...(id !== NO_USER_ID && { userId: id }),
  rights: rightsOf(roles),
});
