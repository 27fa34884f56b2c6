import type { Asker } from '../../core/limits/desk/limit-request.ts';
import type { User } from '../../core/signin/user.ts';
import { rightsOf } from './rights-of.ts';

/** Whoever is signed in, as the desk knows them: by id, with the name for reading. */
export const actingUser = ({
  id,
  username,
  roles,
}: Pick<User, 'id' | 'username' | 'roles'>): Required<Asker> => ({
  actor: username,
  userId: id,
  rights: rightsOf(roles),
});
