import { expect, test } from 'vitest';
import { INSTRUCTIONS_MAX } from '../../../policies/regex/program.ts';
import { compileRegex, REGEX_TEXT_CHARACTERS_MAX, type Regex } from '../../../policies/regex/regex.ts';
import { walk } from '../../../policies/regex/walk.ts';

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
  ['a(b', /'\(' without its '\)'.*at character 2/],
  ['a)b', /'\)' without its '\('.*at character 2/],
  ['[a', /'\[' without its '\]'.*at character 1/],
  ['[z-a]', /range 'z-a'.*at character 2/],
  ['[a-\\d]', /range 'a-\\d'.*at character 2/],
  ['[[:alpha:]]', /'\[:alpha:\]', which is not supported, at character 2/],
  ['a**', /repeats what is repeated already.*at character 3/],
  ['a{2}{3}', /repeats what is repeated already.*at character 5/],
  ['*a', /nothing before it to repeat at character 1/],
  ['a|{2}', /nothing before it to repeat at character 3/],
  ['a{3,2}', /first number is larger.*at character 2/],
  ['a{1001}', /more than 1000 times at character 2/],
  ['(?=a)', /'\(\?=', which is not supported.*at character 1/],
  ['a(?P<n>b)', /'\(\?P', which is not supported.*at character 2/],
  ['(?m)a', /not supported.*at character 1/],
  ['(a)\\1', /'\\1', which is not supported, at character 4/],
  ['\\pL', /'\\p', which is not supported, at character 1/],
  ['a\\', /ends in a '\\'/],
  ['\\x4', /'\\x' without a code.*at character 1/],
  ['\\x{110000}', /'\\x' without a code/],
  ['[\\b]', /'\\b' inside a class.*at character 2/],
  ['('.repeat(60) + ')'.repeat(60), /nests more than 50 groups/],
  ['a'.repeat(513), /513 characters; expected at most 512/],
])('%j is refused with the place and the remedy', (pattern, problem) => {
  expect(compileRegex(pattern)).toEqual({ ok: false, problem: expect.stringMatching(problem) });
});

test.each([
  '((a{1000}){1000}){1000}',
  '((((){1000}){1000}){1000}){1000}',
  '(a|b|c){400}',
  '(abc){0,500}',
  '(a{9}){200,}',
  '(?:a{500}){3}',
])('a short pattern that would be a large program is refused before it is built: %s', (pattern) => {
  expect(compileRegex(pattern)).toEqual({
    ok: false,
    problem: expect.stringContaining('steps per character'),
  });
});

test.each([
  '(a+)+$',
  '(a|a)*$',
  '(a|aa)+$',
  '(.*a){12}$',
  '(?:a?){25}a{25}!!',
  '(x+x+)+y|a*a*a*a*a*b',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
])('a pattern that makes others backtrack takes steps linear in the text: %s', (pattern) => {
  const { program } = regex(pattern);
  expect(program.length).toBeLessThanOrEqual(INSTRUCTIONS_MAX);
  const stepsFor = (length: number): number => walk(program, `${'a'.repeat(length)}!`).steps;
  expect(stepsFor(1_000)).toBeLessThanOrEqual(program.length * 1_002);
  // Past the first characters, each one costs the same.
  expect(stepsFor(1_000) - stepsFor(500)).toBe(stepsFor(1_500) - stepsFor(1_000));
});

test('a text beyond the bound matches nothing, not even .*', () => {
  expect(regex('.*').matches('a'.repeat(REGEX_TEXT_CHARACTERS_MAX))).toBe(true);
  expect(regex('.*').matches('a'.repeat(REGEX_TEXT_CHARACTERS_MAX + 1))).toBe(false);
});
