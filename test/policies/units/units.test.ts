import { expect, test } from 'vitest';
import {
  LIMIT_KINDS,
  readUnits,
  UNIT_OF,
  unitOfLetter,
  unitRow,
  writtenUnits,
} from '../../../policies/unit.ts';

const rows = Object.values(UNIT_OF).map(unitRow);

test('every unit has a kind and a letter of its own, and no letter is a flag', () => {
  expect(new Set(rows.map(({ kind }) => kind)).size).toBe(rows.length);
  expect(new Set(rows.map(({ letter }) => letter)).size).toBe(rows.length);
  for (const { letter } of rows) expect(letter).toMatch(/^[a-eg-tv-z]$/);
});

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

test.each(rows)(
  '$kind: what a job asks for is told by its terms or by what it requests, not by both',
  (row) => {
    expect(row.asked === undefined).toBe(row.requested !== undefined);
  },
);

test.each(LIMIT_KINDS)('%s: an amount that is written is read again', (kind) => {
  for (const amount of [0, 3, 1_500, 90_000, 6 * 2 ** 30])
    expect(readUnits(writtenUnits(amount, kind), kind)).toEqual({ ok: true, amount });
});
