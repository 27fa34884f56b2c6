import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileWildcard } from '../../../policies/match/wildcard.ts';
import { propertyRuns } from '../../support/property-runs.ts';

/** Stands where an alternative began: `**` counts as a component there, as in doublestar. */
const BEGIN = '\u0001';

/** The documented meaning, written the slow and obvious way: try everything. */
const naive = (pattern: string, text: string): boolean =>
  expanded(pattern).some((each) =>
    walk(starsApart(each).replaceAll(new RegExp(`${BEGIN}(?!\\*\\*)`, 'g'), ''), text, true),
  );

/** Stars of two alternatives that meet are no `**`: together they are a run. */
function starsApart(pattern: string): string {
  const apart = pattern.replace(new RegExp(`(?<!\\\\)\\*+${BEGIN}+\\*(?!\\*)`), '*');
  return apart === pattern ? pattern : starsApart(apart);
}

function expanded(pattern: string): readonly string[] {
  const brace = /\{([^{}]*)\}/.exec(pattern);
  if (brace === null) return [pattern];
  const before = pattern.slice(0, brace.index);
  const after = pattern.slice(brace.index + brace[0].length);
  return (brace[1] ?? '').split(',').flatMap((part) => expanded(`${before}${BEGIN}${part}${after}`));
}

function walk(pattern: string, text: string, startsComponent: boolean): boolean {
  if (pattern === '') return text === '';
  if (pattern.startsWith(BEGIN)) return walk(pattern.slice(1), text, true);
  if (text === '' && ['/**', '/**/'].includes(pattern.replaceAll(BEGIN, ''))) return true;
  if (pattern.startsWith('**') && startsComponent && (pattern.length === 2 || pattern[2] === '/')) {
    if (pattern.length === 2) return true;
    const rest = pattern.slice(3);
    if (walk(rest, text, true)) return true;
    for (let at = 0; at < text.length; at += 1) {
      if (text[at] === '/' && walk(rest, text.slice(at + 1), true)) return true;
    }
    return false;
  }
  if (pattern.startsWith('*')) {
    const rest = pattern.slice(pattern.startsWith('**') ? 2 : 1);
    for (let at = 0; at <= text.length; at += 1) {
      if (walk(rest, text.slice(at), false)) return true;
      if (text[at] === '/') return false;
    }
    return false;
  }
  const set = /^\[(\^?)([^\]]+)\]/.exec(pattern);
  if (set !== null) {
    const inside = text !== '' && (set[2] ?? '').includes(text[0] ?? '');
    return (
      text !== '' && inside !== (set[1] === '^') && walk(pattern.slice(set[0].length), text.slice(1), false)
    );
  }
  const escaped = pattern.startsWith('\\');
  const wanted = escaped ? pattern[1] : pattern[0];
  const fits = !escaped && wanted === '?' ? text !== '' && text[0] !== '/' : text[0] === wanted;
  return fits && walk(pattern.slice(escaped ? 2 : 1), text.slice(1), wanted === '/');
}

const piece = fc.constantFrom(
  'a',
  'b',
  ':',
  '/',
  '/',
  '*',
  '**',
  '**/',
  '/**',
  '?',
  '[ab]',
  '[^a]',
  '{a,b}',
  '{,a/}',
  '{a*,b?}',
  String.raw`\*`,
);
const pattern = fc.array(piece, { maxLength: 7 }).map((pieces) => pieces.join(''));
const text = fc.string({ unit: fc.constantFrom('a', 'b', ':', '/', '*'), maxLength: 9 });

test('matches exactly what the naive matcher matches, for every pattern that is accepted', () => {
  fc.assert(
    fc.property(pattern, text, (pattern, text) => {
      const compiled = compileWildcard(pattern);
      fc.pre(compiled.ok);
      expect(compiled.wildcard.matches(text)).toBe(naive(pattern, text));
    }),
    { numRuns: propertyRuns(5_000) },
  );
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

// As doublestar 4.10 answers.
test.each([
  ['*{,a/}*', 'x/y', false],
  ['*{,a/}*', 'x', true],
  ['*{,a/}*', 'a/x', true],
  ['x/{,a/}*{,b/}*', 'x/y/z', false],
])('stars of two alternatives that meet cross no /: %s and %s', (pattern, text, matches) => {
  const compiled = compileWildcard(pattern);
  if (!compiled.ok) throw new Error(compiled.problem);
  expect(compiled.wildcard.matches(text)).toBe(matches);
});
