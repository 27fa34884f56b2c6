import type { Asker } from '../limits/desk/limit-request.ts';
import type { User } from '../signin/user.ts';
import { rightsOf } from './read/rights-of.ts';

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
