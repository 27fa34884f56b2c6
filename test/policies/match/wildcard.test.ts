import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileWildcard } from '../../../policies/match/wildcard.ts';

function matches(pattern: string, text: string): boolean {
  const compiled = compileWildcard(pattern);
  if (!compiled.ok) throw new Error(compiled.problem);
  return compiled.wildcard.matches(text);
}

function problemOf(pattern: string): string {
  const compiled = compileWildcard(pattern);
  return compiled.ok ? 'none' : compiled.problem;
}

test.each([
  ['registry.example.com:5000/*:*', 'registry.example.com:5000/ruby:3.4'],
  ['my.registry.tld:5000/ruby:*', 'my.registry.tld:5000/ruby:latest'],
  ['*', 'ruby:3.4'],
  ['*/*:*', 'library/ruby:3.4'],
  ['my.registry.tld/*/*/*:*', 'my.registry.tld/group/subgroup/ruby:3.4'],
  ['**/*', 'ruby:latest'],
  ['**/*:*', 'library/ruby:3.4'],
  ['my.registry.tld/**', 'my.registry.tld/group/subgroup/ruby:3.4'],
  ['a/**/b', 'a/b'],
  ['a/**', 'a'],
  ['ruby:3.?', 'ruby:3.4'],
  ['a?b', 'a😀b'],
  ['ruby:[0-9].*', 'ruby:3.4'],
  ['ruby:[^a-z]*', 'ruby:3.4'],
  [String.raw`[\]a]`, ']'],
  ['{alpine,golang}:*', 'golang:1.26'],
  ['{alpine,golang}{,:*}', 'alpine'],
  ['registry/{a,b/{c,d}}:1', 'registry/b/d:1'],
  [String.raw`a\*b`, 'a*b'],
  ['**abc', 'xabc'],
  ['*{,a/}*', 'x'],
  ['*{,a/}*', 'a/x'],
])("%s matches %s as in GitLab Runner's allowed_images", (pattern, text) => {
  expect(matches(pattern, text)).toBe(true);
});

test.each([
  ['registry.example.com:5000/*:*', 'registry.example.com:5000/ruby'],
  ['registry.example.com:5000/*:*', 'evil.example/registry.example.com:5000/ruby:3.4'],
  ['registry.example.com:5000/*:*', 'registry.example.com:5000.evil.example/ruby:3.4'],
  ['*', 'library/ruby'],
  ['**/*:*', 'library/ruby'],
  ['my.registry.tld/*/*', 'my.registry.tld/group/subgroup/ruby'],
  ['alpine', 'alpine:latest'],
  ['alpine', 'library/alpine'],
  ['Alpine', 'alpine'],
  ['a/b**', 'a/bc/d'],
  ['a?b', 'a/b'],
  [String.raw`a\*b`, 'axb'],
  [String.raw`a/\**`, 'a/b/c'],
  ['*{,a/}*', 'x/y'],
  ['x/{,a/}*{,b/}*', 'x/y/z'],
])('%s does not match %s', (pattern, text) => {
  expect(matches(pattern, text)).toBe(false);
});

test.each([
  ['a[', "'['"],
  ['a[]', 'empty class'],
  ['{a,b', "'{'"],
  ['a}', "'}'"],
  ['a\\', String.raw`'\'`],
  ['a***', 'three or more'],
  ['**/**/a', '**/**'],
  ['a/**/**', '**/**'],
  ['[z-a]', 'smaller character first'],
  ['{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}', 'more than 64'],
  ['a'.repeat(513), 'at most 512'],
])('%s is refused with what is wrong', (pattern, part) => {
  expect(problemOf(pattern)).toContain(part);
});

test('a pattern made to blow up a backtracking matcher is answered in bounded steps', () => {
  const pattern = `${'a*'.repeat(200)}b`;
  const nested = `${'**/a*'.repeat(1)}${'/**/a*'.repeat(60)}/b`;
  expect(matches(pattern, 'a'.repeat(4_000))).toBe(false);
  expect(matches(nested, 'aa/'.repeat(1_000))).toBe(false);
});

test('any text as a pattern is compiled or refused, never an exception', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (pattern, text) => {
      const compiled = compileWildcard(pattern);
      if (compiled.ok) expect(typeof compiled.wildcard.matches(text)).toBe('boolean');
      else expect(compiled.problem).not.toBe('');
    }),
  );
});
