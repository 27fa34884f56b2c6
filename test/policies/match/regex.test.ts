import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileRegex, REGEX_TEXT_CHARACTERS_MAX, type Regex } from '../../../policies/match/regex.ts';
import { propertyRuns } from '../../support/property-runs.ts';

function regex(pattern: string): Regex {
  const compiled = compileRegex(pattern);
  if (!compiled.ok) throw new Error(`${pattern} ${compiled.problem}`);
  return compiled.regex;
}

test.each<[string, string, boolean, string]>([
  ['ci-', 'prod-ci-1', true, 'a pattern matches anywhere, as the runner has it'],
  ['^ci-', 'prod-ci-1', false, 'unless it is anchored'],
  ['^a$', 'a\n', false, '$ is the end of the text, not of a line'],
  ['^b', 'a\nb', false, '^ is the start of the text, not of a line'],
  ['^.$', '😀', true, 'a dot is one character, however it is stored'],
  ['^(?P<tier>build|test)-\\d+$', 'build-7', true, 'named groups are taken as by the runner'],
])('%j on %j is %s: %s', (pattern, text, matches) => {
  expect(regex(pattern).matches(text)).toBe(matches);
});

test.each<[string, RegExp]>([
  ['a(b', /missing closing \).*; write it as RE2 has it/],
  ['[z-a]', /invalid character class range, 'z-a'/],
  ['(?=a)', /unsupported Perl syntax, '\(\?='/],
  ['(a)\\1', /invalid escape sequence, '\\1'/],
  ['a'.repeat(513), /513 characters; expected at most 512/],
])('%j is refused with the place and the remedy', (pattern, problem) => {
  expect(compileRegex(pattern)).toEqual({ ok: false, problem: expect.stringMatching(problem) });
});

test.each(['((a{1000}){1000}){1000}', '(a|b|c){400}'])(
  'a short pattern that would be a large program is refused: %s',
  (pattern) => {
    expect(compileRegex(pattern)).toEqual({
      ok: false,
      problem: expect.stringMatching(/steps per character|invalid repeat count|expression too large/),
    });
  },
);

test.each(['(a+)+$', '(.*a){12}$'])(
  'a pattern that makes others backtrack comes to an end: %s',
  (pattern) => {
    expect(regex(pattern).matches(`${'a'.repeat(1_000)}!`)).toBe(false);
  },
);

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
    { numRuns: propertyRuns(3_000) },
  );
});
