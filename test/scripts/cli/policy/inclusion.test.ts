import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileRegex } from '../../../../policies/match/regex.ts';
import { compileWildcard } from '../../../../policies/match/wildcard.ts';
import { type Automaton, isIncluded } from '../../../../scripts/cli/policy/diff/inclusion/automaton.ts';
import { regexAutomaton } from '../../../../scripts/cli/policy/diff/inclusion/regex-automaton.ts';
import { wildcardAutomaton } from '../../../../scripts/cli/policy/diff/inclusion/wildcard-automaton.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const both = (one: Automaton | undefined, other: Automaton | undefined) =>
  one && other && [isIncluded(one, other), isIncluded(other, one)];

test.each<[readonly string[], readonly string[], readonly [boolean, boolean]]>([
  [['docker:*'], ['**'], [true, false]],
  [['registry.example.com/**'], ['registry.example.com/*/*:*'], [false, true]],
  [['a/**'], ['a', 'a/', 'a/**/*'], [true, true]],
  [['a/**'], ['a/*', 'a/*/**'], [false, true]],
  [['**/x'], ['x', '*/**/x'], [true, true]],
  [['{alpine,golang}:*'], ['alpine:*', 'golang:*'], [true, true]],
  [['golang:1.*'], ['golang:*'], [true, false]],
  [['golang:[0-9]*'], ['golang:?*'], [true, false]],
  [['golang:[a-k]*'], ['golang:*', 'x'], [true, false]],
  // A class may hold a slash, and * may not.
  [['golang:[!l]*'], ['golang:*', 'x'], [false, false]],
  [['a*b*c'], ['a*c'], [true, false]],
  [['a?c'], ['abc'], [false, true]],
  [['*:latest'], ['nginx*'], [false, false]],
  [['\u{1F600}*'], ['?*'], [true, false]],
])('%j within %j, and the other way: %j', (one, other, expected) => {
  expect(both(wildcardAutomaton(one), wildcardAutomaton(other))).toEqual(expected);
});

test.each<[string, string, readonly [boolean, boolean]]>([
  ['^ci-.*$', '.*', [true, false]],
  ['.*', '', [true, true]],
  ['^ci-', 'ci-', [true, false]],
  ['^ci-(build|deploy)$', '^ci-[a-z]+$', [true, false]],
  ['^(?:a|b)+$', '^[ab]{1,}$', [true, true]],
  ['^a{2,4}$', '^a+$', [true, false]],
  ['(?i)^ci-', '^[cC][iI]-', [true, true]],
  ['(?i)^k$', '^k$', [false, true]],
  ['^\\d+$', '^[0-9]*$', [true, false]],
  ['^$', '^a*$', [true, false]],
  ['a$', 'a', [true, false]],
  ['^(?s:.)*$', '', [true, true]],
  ['^.*$', '', [true, false]],
  ['^\\pL+$', '^[\\pL\\d]+$', [true, false]],
  ['prod', 'ci', [false, false]],
])('%j within %j, and the other way: %j', (one, other, expected) => {
  expect(both(regexAutomaton(one), regexAutomaton(other))).toEqual(expected);
});

test.each(['\\bci', '(?m)^ci$', 'ci\\B', '('])(
  'what depends on neighbours, or is invalid, stays unclear: %s',
  (pattern) => {
    expect(regexAutomaton(pattern)).toBeUndefined();
  },
);

test('a pattern that asks for too many states stays unclear, soon', () => {
  const [one, other] = [regexAutomaton('a.{200}'), regexAutomaton('(a|b).{200}')];
  expect(one && other && isIncluded(other, one)).not.toBe(true);
});

const part = (parts: readonly string[]) =>
  fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 4 }).map((each) => each.join(''));
const text = fc
  .array(fc.constantFrom('a', 'b', '/', ':', 'é', '\n'), { maxLength: 6 })
  .map((each) => each.join(''));

test('what is said to be included is: no text is matched by the one and not by the other, of wildcards', () => {
  const pattern = part(['a', 'b', '/', '*', '?', '[ab]', '[!a]', '{a,b/}', '/**/', ':']);
  fc.assert(
    fc.property(
      fc.array(pattern, { minLength: 1, maxLength: 2 }),
      pattern,
      fc.array(text, { maxLength: 30 }),
      (list, single, texts) => {
        const [one, other] = [wildcardAutomaton([single]), wildcardAutomaton(list)];
        const compiled = [single, ...list].map(compileWildcard);
        if (compiled.some(({ ok }) => !ok)) return;
        const [first, ...rest] = compiled.flatMap((each) => (each.ok ? [each.wildcard] : []));
        const included = one && other && isIncluded(one, other);
        for (const each of texts)
          if (included && first?.matches(each)) expect(rest.some(({ matches }) => matches(each))).toBe(true);
        expect(included).toBeDefined();
      },
    ),
    { numRuns: propertyRuns(1_000) },
  );
});

test('nor of regular expressions', () => {
  const pattern = part(['a', 'b', '.', '[ab]', '(?:a|b)', '*', '+', '^', '$', '|', '(?i)A']);
  fc.assert(
    fc.property(pattern, pattern, fc.array(text, { maxLength: 30 }), (single, wider, texts) => {
      const [first, second] = [compileRegex(single), compileRegex(wider)];
      const [one, other] = [regexAutomaton(single), regexAutomaton(wider)];
      if (!first.ok || !second.ok) return;
      const included = one && other && isIncluded(one, other);
      for (const each of texts)
        if (included && first.regex.matches(each)) expect(second.regex.matches(each)).toBe(true);
      expect(included).toBeDefined();
    }),
    { numRuns: propertyRuns(1_000) },
  );
});
