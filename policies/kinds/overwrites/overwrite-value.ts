import { REGEX_TEXT_CHARACTERS_MAX } from '../../match/regex.ts';

/** What the runner takes for a variable: `$NAME`, `${NAME}`, one of the shell's own; `$$` is a dollar. */
const REFERENCE = /\$(?:\{[^}]*\}|\{|[A-Za-z_]\w*|[*#$@!?\d-])/g;

/**
 * The forms of a value that have to be allowed. GitLab puts in the variables it knows before it asks; one that is left
 * is mostly set nowhere, and becomes empty in the runner. So what is left must neither hide what the pod will get nor
 * lend its letters to a match: `prod${ci-}` is `prod`.
 */
export function judgedForms(value: string): readonly string[] {
  // No pattern matches a longer one, so there is nothing to find out.
  if (!value.includes('$') || value.length > REGEX_TEXT_CHARACTERS_MAX) return [value];
  return [value, value.replace(REFERENCE, (reference) => (reference === '$$' ? '$' : ''))];
}

/** `runner.gitlab.com/…`, `job.runner.gitlab.com/id`: the runner's own labels, in any case. */
const RESERVED = /(?:^|\.)runner\.gitlab\.com(?:\/|$)/i;

/** Whether `key=value` sets a label in the runner's own namespace. */
export const isReservedLabel = (value: string): boolean => RESERVED.test(value.split('=', 1)[0] ?? '');
