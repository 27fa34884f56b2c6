/** The author, requester or approver. The id identifies a person; the name is a label, and may be reused. */
export interface Person {
  /** A username, a login of AWS or a name of one's own: at most 200 characters. */
  readonly actor: string;
  /** GitLab user id. Absent: not signed in with GitLab (the command line, SSM). */
  readonly userId?: number;
}

/**
 * Returns true if both may be the same person, for approvals by another person: without two ids, equal names
 * count as the same.
 */
export const mayBeSame = (one: Person, other: Person): boolean =>
  one.userId !== undefined && other.userId !== undefined
    ? one.userId === other.userId
    : one.actor.toLowerCase() === other.actor.toLowerCase();

/** Returns true if both are certainly the same person: an id never equals a name. */
export const isSamePerson = (one: Person, other: Person): boolean =>
  one.userId === undefined && other.userId === undefined
    ? one.actor === other.actor
    : one.userId === other.userId;
