/** A user's rights. Groups are ids; each includes everything below it. */
export interface Roles {
  readonly admin: boolean;
  readonly finance: boolean;
  readonly ownedGroupIds: readonly number[];
  /** The owned ones are among them. */
  readonly viewerGroupIds: readonly number[];
  /** A CI job of this project, and no person: it sees that project, and is nothing else of the above. */
  readonly jobOfProjectId?: number;
}

/** The signed-in user of one request. */
export interface User {
  /** GitLab's id of the user; 0 of a job. */
  readonly id: number;
  readonly username: string;
  readonly name: string;
  /** At most 15 minutes behind GitLab. */
  readonly roles: Roles;
  /** Names the session in logs and counts. It opens nothing, because it is the hash of the cookie's id. */
  readonly sessionId: string;
  /** Goes into every form as `csrf`, and into calls of the API as `x-csrf-token`. */
  readonly csrfToken: string;
}

/** Set by `requireUser` in Hono's context: `c.var.user`. */
export interface SignInEnv {
  Variables: { user: User };
}
