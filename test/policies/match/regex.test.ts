import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  acceptedRegex,
  compileRegex,
  REGEX_TEXT_CHARACTERS_MAX,
  type Regex,
} from '../../../policies/match/regex.ts';

function regex(pattern: string): Regex {
  const compiled = compileRegex(pattern);
  if (!compiled.ok) throw new Error(`${pattern} ${compiled.problem}`);
  return compiled.regex;
}

test.each<[string, string, boolean, string]>([
  ['ci-', 'prod-ci-1', true, 'a pattern matches anywhere, as the runner has it'],
  ['^ci-', 'prod-ci-1', false, 'unless it is anchored'],
  ['^ci-.*$', 'ci-1', true, 'at both ends'],
  ['^a$', 'a\n', false, '$ is the end of the text, not of a line'],
  ['^b', 'a\nb', false, '^ is the start of the text, not of a line'],
  ['', '', true, 'the empty pattern matches the empty text'],
  ['.*', '', true, 'so does any run'],
  ['.+', '', false, 'but no run of at least one'],
  ['^.$', '\n', false, 'a dot is no line feed'],
  ['^.$', '😀', true, 'a dot is one character, however it is stored'],
  ['^[😀-😂]$', '😁', true, 'ranges go by characters, too'],
  ['^[]a]+$', ']a', true, 'a bracket that comes first stands for itself'],
  ['^[^]a]$', ']', false, 'also in a negated class'],
  ['^[a-]+$', '-a', true, 'a hyphen at the end stands for itself'],
  ['^[\\w.-]+$', 'a_1.-', true, 'classes may hold classes'],
  ['^[^\\D]$', '7', true, 'and their opposites'],
  ['^\\s$', '\v', false, 'a vertical tab is no space, as in RE2'],
  ['^a{2,3}$', 'aaaa', false, 'counts end where they say'],
  ['^a{2,}$', 'aaaa', true, 'or do not end'],
  ['^a{0}b$', 'b', true, 'none is a count'],
  ['a{,2}', 'a{,2}', true, 'a brace that does not count is a brace'],
  ['^(?i)ab|CD$', 'xcd', true, 'the flag holds to the end, past a bar'],
  ['^(?:(?i)a)b$', 'AB', false, 'and no further than its group'],
  ['^(?i:k)$', '\u212a', true, 'the Kelvin sign is a k'],
  ['(?i)[^k]', 'K', false, 'a negated class is folded before it is negated'],
  ['^a\\.b$', 'axb', false, 'an escaped dot is a dot'],
  ['^\\x41\\x{1F600}$', 'A😀', true, 'codes in hex'],
  ['\\bci\\b', 'x-ci-x', true, 'word edges'],
  ['\\Bci', 'ci', false, 'and their opposite'],
  ['\\Aa\\z', 'a', true, 'the other spelling of the ends'],
  ['^(a*)*$', 'aab', false, 'a run of nothing ends'],
  ['^(|a)+$', 'aa', true, 'an alternative may be empty'],
])('%j on %j is %s: %s', (pattern, text, matches) => {
  expect(regex(pattern).matches(text)).toBe(matches);
});

test.each<[string, RegExp]>([
  ['a(b', /missing closing \): close the group/],
  ['a)b', /unexpected \): open the group/],
  ['[a', /missing closing \]: close the class/],
  ['[z-a]', /invalid character class range, 'z-a', at character 2: write the smaller character first/],
  [
    'a**',
    /invalid nested repetition operator, '\*\*', at character 2: put what is repeated twice in a group/,
  ],
  ['*a', /missing argument to repetition operator, '\*', at character 1/],
  ['a{1001}', /invalid repeat count, '\{1001\}', at character 2: count to 1000 at most/],
  ['(?=a)', /unsupported Perl syntax, '\(\?=', at character 1: RE2 has no look-around/],
  ['x(?<=a)b', /invalid named capture.*: RE2 has no look-behind/],
  ['(a)\\1', /invalid escape sequence, '\\1', at character 4: RE2 has no back-references/],
  ['\\p{Foo}', /invalid character class range/],
  ['a\\', /trailing backslash at end of expression: write/],
  [`${'(?:'.repeat(40)}x${'){2}'.repeat(40)}`, /invalid repeat count|too large/],
  ['a'.repeat(513), /513 characters; expected at most 512/],
])('%j is refused with the place and the remedy', (pattern, problem) => {
  expect(compileRegex(pattern)).toEqual({ ok: false, problem: expect.stringMatching(problem) });
});

test.each([
  ['(?P<tier>build|test)-\\d+', 'build-7'],
  ['^(?<tier>\\p{Lu}+)$', 'CI'],
  ['^[[:alpha:]]+$', 'ci'],
  ['(?m)^b$', 'a\nb'],
  ['^(?s:.)$', '\n'],
  ['^\\Q$x.\\E$', '$x.'],
  ['(?U)a+', 'a'],
  ['^\\x{1F600}|\\pL$', 'é'],
])('what the runner takes is taken: %s', (pattern, text) => {
  expect(regex(pattern).matches(text)).toBe(true);
});

test.each([
  '((a{1000}){1000}){1000}',
  '((((){1000}){1000}){1000}){1000}',
  '(a|b|c){400}',
  '(abc){0,500}',
  '(a{9}){200,}',
  '(?:a{500}){3}',
])('a short pattern that would be a large program is refused: %s', (pattern) => {
  expect(compileRegex(pattern)).toEqual({
    ok: false,
    problem: expect.stringMatching(/steps per character|invalid repeat count|expression too large/),
  });
});

test.each([
  '(a+)+$',
  '^(a|a)*$',
  '(a|aa)+$',
  '(.*a){12}$',
  '(?:a?){25}a{25}!!',
  '(x+x+)+y|a*a*a*a*a*b',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
])('a pattern that makes others backtrack comes to an end: %s', (pattern) => {
  expect(regex(pattern).matches(`${'a'.repeat(1_000)}!`)).toBe(false);
});

test('a text beyond the bound matches nothing, not even .*', () => {
  expect(regex('.*').matches('a'.repeat(REGEX_TEXT_CHARACTERS_MAX))).toBe(true);
  expect(regex('.*').matches('a'.repeat(REGEX_TEXT_CHARACTERS_MAX + 1))).toBe(false);
});

test('no text makes a pattern that is taken throw, and no pattern throws', () => {
  const anyPattern = fc.oneof(
    fc.string({ maxLength: 60, unit: 'binary' }),
    fc
      .array(fc.constantFrom(...'ab()[]{}^$.|*+?\\-,:idwx1='), { maxLength: 40 })
      .map((signs) => signs.join('')),
  );
  fc.assert(
    fc.property(anyPattern, fc.string({ maxLength: 60, unit: 'binary' }), (written, value) => {
      const compiled = compileRegex(written);
      if (compiled.ok) compiled.regex.matches(value);
      else expect(compiled.problem).not.toBe('');
    }),
    { numRuns: 3_000 },
  );
});

test('a pattern that was accepted before is compiled by the first text, and matches the same', () => {
  const accepted = acceptedRegex('^ci-[0-9]+$');
  expect([accepted.matches('ci-12'), accepted.matches('ci-x'), accepted.pattern]).toEqual([
    true,
    false,
    '^ci-[0-9]+$',
  ]);
  const broken = acceptedRegex('ci-(');
  expect(() => broken.matches('ci-1')).toThrow("'ci-(' has missing closing )");
});
