/** Longer than any path (20 levels of groups) or image name seen. */
export const TEXT_LENGTH_MAX = 1_024;
/** Labels are cut at GitLab's bound for job names. */
export const LABEL_LENGTH_MAX = 255;
/** GitLab allows 50 tags per job, and any number of services. */
export const LIST_LENGTH_MAX = 100;

/** A value that is too long to read. A rule that needs it follows its `on_missing`, and no variable replaces it. */
export const UNKNOWN = Symbol('unknown');

/** Marks a text as unknown. Rules allow no image or user with a `$`. */
export const UNKNOWN_END = '$…';
