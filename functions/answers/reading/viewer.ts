import type { User } from '../../core/signin/index.ts';

/** The current user. */
export type Viewer = Pick<User, 'id' | 'username' | 'name' | 'roles'>;
