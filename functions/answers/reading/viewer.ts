import type { User } from '../../core/signin/user.ts';

/** Who looks. */
export type Viewer = Pick<User, 'id' | 'username' | 'name' | 'roles'>;
