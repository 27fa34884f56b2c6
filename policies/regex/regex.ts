import { RegexProblem } from './expression.ts';
import { parseRegex } from './parse-regex.ts';
import { INSTRUCTIONS_MAX, type Program, programOf, sizeOf } from './program.ts';
import { walk } from './walk.ts';

/**
 * Regular expressions as GitLab Runner's settings write them (RE2), matched in time linear in the text: literals, `.`
 * (any but a line feed), classes with `\d \w \s` and their opposites, `^ $ \A \z \b \B`, groups, `|`, `* + ? {m,n}`,
 * `(?i)`, escapes. Anything else (named groups, `\p`, look-around, back-references) is a problem when it is compiled.
 *
 * A pattern matches anywhere in the text, as the runner's do: `ci-` matches `prod-ci-1`. Who means the whole text
 * writes `^…$`.
 *
 * @see https://github.com/google/re2/wiki/Syntax
 */
export interface Regex {
  readonly pattern: string;
  readonly program: Program;
  /** A text longer than {@link REGEX_TEXT_CHARACTERS_MAX} matches nothing. */
  matches(text: string): boolean;
}

/** As long as the relay lets a variable's value be. */
export const REGEX_TEXT_CHARACTERS_MAX = 1_024;
const PATTERN_CHARACTERS_MAX = 512;

/** `problem` says what is wrong with the pattern, where, and what to write instead. */
export type CompiledRegex =
  | { readonly ok: true; readonly regex: Regex }
  | { readonly ok: false; readonly problem: string };

export function compileRegex(pattern: string): CompiledRegex {
  if (pattern.length > PATTERN_CHARACTERS_MAX)
    return refuse(`has ${pattern.length} characters; expected at most ${PATTERN_CHARACTERS_MAX}`);
  try {
    const expression = parseRegex(pattern);
    const size = sizeOf(expression);
    if (size > INSTRUCTIONS_MAX)
      return refuse(
        `comes to ${size} steps per character; expected at most ${INSTRUCTIONS_MAX}: count less with {…}`,
      );
    const program = programOf(expression);
    const matches = (text: string): boolean =>
      text.length <= REGEX_TEXT_CHARACTERS_MAX && walk(program, text).matched;
    return { ok: true, regex: { pattern, program, matches } };
  } catch (error) {
    if (error instanceof RegexProblem) return refuse(error.message);
    throw error;
  }
}

const refuse = (problem: string): { readonly ok: false; readonly problem: string } => ({
  ok: false,
  problem,
});
