/**
 * A truncated list (a token with fewer rights, a database that is being restored) looks like deletions. A
 * loss of more than a fifth is treated as truncated.
 */
const DROPPED_SHARE_MAX = 0.2;
/** In a small instance one group is more than a fifth. */
const DROPPED_MIN = 3;

export const answeredShort = (dropped: number, known: number): boolean =>
  dropped === known ? known > 0 : dropped >= DROPPED_MIN && dropped > known * DROPPED_SHARE_MAX;
