import fc from 'fast-check';
import { expect, test } from 'vitest';
import { oneLine, plain, plainLines, quoted, shortened } from '../../../policies/text/plain-text.ts';

const point = (code: number): string => String.fromCodePoint(code);

test.each([
  ['right-to-left mark', 0x200f],
  ['right-to-left override', 0x202e],
  ['zero width space', 0x200b],
  ['zero width joiner', 0x200d],
  ['Hangul filler', 0x3164],
  ['tag letter', 0xe0061],
  ['empty Braille pattern', 0x2800],
  ['no-break space', 0x00a0],
  ['line separator', 0x2028],
  ['escape', 0x001b],
  ['half of a character', 0xd800],
])('a %s is a blank, so that a name with one does not read like one without', (_, code) => {
  expect(plain(`pay${point(code)}ments`)).toBe('pay ments');
  expect(plainLines(`pay${point(code)}\n${point(code)}ments`)).toBe('pay \n ments');
  expect(oneLine(`${point(code)}pay${point(code).repeat(3)} ments${point(code)}`)).toBe('pay ments');
});

test('cutting a name brings nothing back that cannot be seen', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 2, max: 20 }), (text, charactersMax) => {
      for (const told of [
        plain(text),
        oneLine(text),
        quoted(text, charactersMax),
        shortened(text, charactersMax),
      ])
        if (told !== text || told.length > charactersMax)
          expect(told).not.toMatch(
            /[\p{Cc}\p{Cf}\p{Cs}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u,
          );
    }),
  );
});
