import type { Reading } from './reading.ts';

/** GitLab's id of who did something, beside the name that is for reading; nothing there: undefined. */
export const readUser = (reading: Reading): number | undefined =>
  reading.isThere ? reading.integer("GitLab's id of the user", 1) : undefined;
