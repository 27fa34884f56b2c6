/** Who edits, asks or approves. The id decides who somebody is; the name is for reading, and may be taken by others. */
export interface Person {
  /** A username, a login of AWS or a name of one's own: at most 200 characters. */
  readonly actor: string;
  /** GitLab's id of the user. Absent: somebody who is not signed in with GitLab (the command line, SSM). */
  readonly userId?: number;
}

/** Whoever must be somebody else is refused on this: without two ids, the same name is the same person. */
export const mayBeSame = (one: Person, other: Person): boolean =>
  one.userId !== undefined && other.userId !== undefined
    ? one.userId === other.userId
    : one.actor.toLowerCase() === other.actor.toLowerCase();

/** Whoever has a right because it was they who did it, has it on this: an id never equals a name. */
export const isSamePerson = (one: Person, other: Person): boolean =>
  one.userId === undefined && other.userId === undefined
    ? one.actor === other.actor
    : one.userId === other.userId;
