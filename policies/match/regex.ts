import { RE2JS, RE2JSSyntaxException } from 're2js';

/**
 * Regular expressions as GitLab Runner's settings write them (Go's RE2 syntax), matched in time linear in the text.
 *
 * A pattern matches anywhere in the text, as the runner's do: `ci-` matches `prod-ci-1`. Who means the whole text
 * writes `^…$`.
 *
 * @see https://pkg.go.dev/regexp/syntax
 */
export interface Regex {
  readonly pattern: string;
  matches(text: string): boolean;
}

/** As long as the relay lets a variable's value be. */
export const REGEX_TEXT_CHARACTERS_MAX = 1_024;
const PATTERN_CHARACTERS_MAX = 512;
const REMEDY = String.raw`; write it as RE2 has it, with '\' before a character that is meant itself`;
/** Steps that one character can take at most; with the longest text that is tens of milliseconds. */
const PROGRAM_SIZE_MAX = 1_000;

type CompiledRegex =
  | { readonly ok: true; readonly regex: Regex }
  | { readonly ok: false; readonly problem: string };

export function compileRegex(pattern: string): CompiledRegex {
  if (pattern.length > PATTERN_CHARACTERS_MAX)
    return refuse(`has ${pattern.length} characters; expected at most ${PATTERN_CHARACTERS_MAX}`);
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(pattern);
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) {
      const at = error.input ? `, '${error.input}'` : '';
      return refuse(`has ${error.error}${at}${REMEDY}`);
    }
    throw error;
  }
  const size = compiled.programSize();
  if (size > PROGRAM_SIZE_MAX)
    return refuse(
      `comes to ${size} steps per character; expected at most ${PROGRAM_SIZE_MAX}: count less with {…}`,
    );
  const matches = (text: string): boolean => text.length <= REGEX_TEXT_CHARACTERS_MAX && compiled.test(text);
  return { ok: true, regex: { pattern, matches } };
}

/**
 * A pattern that {@link compileRegex} accepted before, compiled when a text first asks: a cold start does not wait for it.
 * From that text on it throws if it is none.
 */
export function acceptedRegex(pattern: string): Regex {
  let compiled: CompiledRegex | undefined;
  return {
    pattern,
    matches: (text) => {
      compiled ??= compileRegex(pattern);
      if (!compiled.ok) throw new TypeError(`'${pattern}' ${compiled.problem}`);
      return compiled.regex.matches(text);
    },
  };
}

const refuse = (problem: string): { readonly ok: false; readonly problem: string } => ({
  ok: false,
  problem,
});
