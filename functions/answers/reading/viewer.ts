import type { User } from '../../core/signin/index.ts';

/** Who looks. */
export type Viewer = Pick<User, 'id' | 'username' | 'name' | 'roles'>;
