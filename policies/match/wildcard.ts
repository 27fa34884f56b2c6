import { expandAlternatives } from './wildcard-alternatives.ts';
import { type Branch, compileBranch } from './wildcard-branch.ts';
import { branchMatches } from './wildcard-walk.ts';

/**
 * Image patterns as GitLab Runner's `allowed_images` reads them (doublestar v4 `Match`): `*` is any run without `/`,
 * `**` as a whole path component crosses `/`, `?` is one character but `/`, `[a-z]` and `[^a-z]` or `[!a-z]` are
 * classes, `{a,b}` alternatives, `\` takes the next character as it is. The text is matched as written: no registry,
 * tag or `library/` is put in. Matching takes at most pattern × text steps.
 *
 * @see https://docs.gitlab.com/runner/executors/kubernetes/#restrict-docker-images-and-services
 */
export interface Wildcard {
  readonly pattern: string;
  matches(text: string): boolean;
}

/** Far above any image pattern; a bound for the steps of one match. */
const PATTERN_CHARACTERS_MAX = 512;

/** `problem` says what is wrong with the pattern and what to write instead. */
type CompiledWildcard =
  | { readonly ok: true; readonly wildcard: Wildcard }
  | { readonly ok: false; readonly problem: string };

export function compileWildcard(pattern: string): CompiledWildcard {
  if (pattern.length > PATTERN_CHARACTERS_MAX) {
    return {
      ok: false,
      problem: `has ${pattern.length} characters; expected at most ${PATTERN_CHARACTERS_MAX}`,
    };
  }
  const alternatives = expandAlternatives(pattern);
  if (!alternatives.ok) return alternatives;
  const branches: Branch[] = [];
  for (const alternative of alternatives.alternatives) {
    const compiled = compileBranch(alternative);
    if (!compiled.ok) return compiled;
    branches.push(compiled.branch);
  }
  return {
    ok: true,
    wildcard: {
      pattern,
      matches: (text) => branches.some((branch) => branchMatches(branch, text)),
    },
  };
}
