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
  /** A text longer than {@link REGEX_TEXT_CHARACTERS_MAX} matches nothing. */
  matches(text: string): boolean;
}

/** As long as the relay lets a variable's value be. */
export const REGEX_TEXT_CHARACTERS_MAX = 1_024;
const PATTERN_CHARACTERS_MAX = 512;
/** Steps that one character can take at most; with the longest text that is tens of milliseconds. */
const PROGRAM_SIZE_MAX = 1_000;

/** `problem` says what is wrong with the pattern, where, and what to write instead. */
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
    if (error instanceof RE2JSSyntaxException) return refuse(problemOf(error, pattern));
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

/** Remedies by the parser's error message. */
const REMEDIES: ReadonlyMap<string, string> = new Map([
  ['missing closing )', String.raw`close the group, or write '\(' for the character itself`],
  ['unexpected )', String.raw`open the group, or write '\)' for the character itself`],
  ['missing closing ]', String.raw`close the class, or write '\[' for the character itself`],
  ['trailing backslash at end of expression', String.raw`write '\\' for the character itself`],
  ['missing argument to repetition operator', String.raw`write '\*' or the like for the character itself`],
  ['invalid nested repetition operator', 'put what is repeated twice in a group: (?:…)'],
  [
    'invalid repeat count',
    'count to 1000 at most, also where one count is inside another, the smaller first',
  ],
  ['invalid or unsupported Perl syntax', 'RE2 has no look-around, and no flags but i, m, s and U'],
  ['invalid named capture', 'RE2 has no look-behind; a name is written (?P<name>…)'],
  ['invalid escape sequence', 'RE2 has no back-references; a code is written \\x{1F600}'],
  [
    'invalid character class range',
    'write the smaller character first, and the name of a class as RE2 has it',
  ],
  ['expression too large', 'count less with {…}'],
  ['expression nests too deeply', 'use fewer groups'],
]);

function problemOf({ error, input }: RE2JSSyntaxException, pattern: string): string {
  const remedy = REMEDIES.get(error);
  return `has ${error}${placeOf(input, pattern)}${remedy === undefined ? '' : `: ${remedy}`}`;
}

/** Returns the position of the fragment that the parser names, counted from 1, if it is unique. */
function placeOf(fragment: string | null, pattern: string): string {
  if (fragment === null || fragment === '' || fragment === pattern) return '';
  const at = pattern.indexOf(fragment);
  const isOnly = at !== -1 && pattern.indexOf(fragment, at + 1) === -1;
  return `, '${fragment}'${isOnly ? `, at character ${at + 1}` : ''}`;
}

const refuse = (problem: string): { readonly ok: false; readonly problem: string } => ({
  ok: false,
  problem,
});
