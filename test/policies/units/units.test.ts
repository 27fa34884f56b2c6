import { expect, test } from 'vitest';
import { LIMIT_KINDS, readUnits, unitOfLetter, unitRow, writtenUnits } from '../../../policies/unit.ts';

test('what the ledger has written keeps its unit', () => {
  expect([...'msjcbn'].map(unitOfLetter)).toEqual([
    'micros',
    'seconds',
    'jobs',
    'millicpu',
    'bytes',
    'starts',
  ]);
});

test('a letter of a later version counts nothing that adds up', () => {
  expect(unitRow(unitOfLetter('?'))).toMatchObject({ atOnce: true });
});

test.each(LIMIT_KINDS)('%s: an amount that is written is read again', (kind) => {
  for (const amount of [0, 3, 1_500, 90_000, 6 * 2 ** 30])
    expect(readUnits(writtenUnits(amount, kind), kind)).toEqual({ ok: true, amount });
});
