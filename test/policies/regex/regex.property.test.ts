import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileRegex } from '../../../policies/regex/regex.ts';
import { walk } from '../../../policies/regex/walk.ts';

const character = fc.constantFrom('a', 'b', 'A', '-', '1', '_', ' ', '/', '=', '\n', 'é', '😀');
const text = fc.array(character, { maxLength: 8 }).map((characters) => characters.join(''));

const single = fc.constantFrom(
  ...[
    'a',
    'b',
    'A',
    '-',
    '1',
    '_',
    ' ',
    '/',
    '=',
    'é',
    '😀',
    '.',
    '\\.',
    '\\/',
    '\\n',
    '\\x61',
    '\\d',
    '\\D',
    '\\w',
  ],
  ...['\\W', '\\s', '\\S', '[ab]', '[^ab]', '[a-c1]', '[^\\w]', '[\\d\\-é]', '[A-Z]', '[^\\D=]', '[😀a]'],
);
// Not \B: V8 finds one in the middle of a character that is stored as two.
const edge = fc.constantFrom('^', '$', '\\b');
const count = fc.constantFrom('*', '+', '?', '{2}', '{0,2}', '{1,}', '*?', '+?', '??', '{0}', '{1,3}?');

/** Patterns that mean the same to RE2 and to JavaScript with the flag u. */
const { pattern } = fc.letrec<{ pattern: string; branch: string; piece: string }>((tie) => ({
  pattern: fc.array(tie('branch'), { minLength: 1, maxLength: 3 }).map((branches) => branches.join('|')),
  branch: fc.array(tie('piece'), { maxLength: 4 }).map((pieces) => pieces.join('')),
  piece: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    single,
    edge,
    fc.tuple(single, count).map(([one, times]) => one + times),
    fc.tuple(fc.constantFrom('(', '(?:'), tie('pattern')).map(([open, inner]) => `${open}${inner})`),
    fc.tuple(tie('pattern'), count).map(([inner, times]) => `(?:${inner})${times}`),
  ),
}));

test('says of generated patterns what JavaScript says', () => {
  fc.assert(
    fc.property(
      pattern,
      fc.boolean(),
      fc.array(text, { minLength: 1, maxLength: 6 }),
      (written, folded, texts) => {
        const compiled = compileRegex(folded ? `(?i)${written}` : written);
        if (!compiled.ok) {
          // Only size may stand in the way.
          expect(compiled.problem).toMatch(/steps per character|characters; expected at most/);
          return;
        }
        const theirs = new RegExp(written, folded ? 'iu' : 'u');
        for (const each of texts)
          expect([each, compiled.regex.matches(each)]).toEqual([each, theirs.test(each)]);
      },
    ),
    { numRuns: 3_000 },
  );
});

test('no pattern and no text make it throw, hang or take more steps than program × characters', () => {
  const anyPattern = fc.oneof(
    fc.string({ maxLength: 60, unit: 'binary' }),
    fc
      .array(fc.constantFrom(...'ab()[]{}^$.|*+?\\-,:idwx1='), { maxLength: 40 })
      .map((signs) => signs.join('')),
  );
  fc.assert(
    fc.property(anyPattern, fc.string({ maxLength: 60, unit: 'binary' }), (written, value) => {
      const compiled = compileRegex(written);
      if (!compiled.ok) {
        expect(compiled.problem).not.toBe('');
        return;
      }
      const { program } = compiled.regex;
      expect(walk(program, value).steps).toBeLessThanOrEqual(program.length * (value.length + 1));
    }),
    { numRuns: 3_000 },
  );
});
