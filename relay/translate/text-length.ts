/** Longer than any path (20 levels of groups) or image name seen; a longer one is somebody's experiment. */
export const TEXT_LENGTH_MAX = 1_024;
/** What people read is cut here instead: GitLab's own bound for job names. */
export const LABEL_LENGTH_MAX = 255;
/** GitLab allows 50 tags per job; services have no bound of their own. */
export const LIST_LENGTH_MAX = 100;

/** Came, and is too long to be looked at: a rule that needs it follows its `on_missing`, and no variable stands in for it. */
export const UNKNOWN = Symbol('unknown');

/** Marks a text as unknown: rules allow no image and no user that has a `$`. */
export const UNKNOWN_END = '$…';
