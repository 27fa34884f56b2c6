import type { Roles } from './user.ts';

/** A user as GitLab has them now. */
export interface Account {
  readonly username: string;
  readonly name: string;
  readonly roles: Roles;
}

export interface RoleSource {
  /**
   * `undefined`: GitLab knows no such user, or they are blocked or deactivated.
   *
   * @param userId - GitLab's id.
   * @throws {SignInError} `gitlab_unavailable`: no answer; `user_refused`: more groups than a session can carry.
   */
  read(userId: number): Promise<Account | undefined>;
}
