import { expect, test } from 'vitest';
import {
  closedDays,
  isClosable,
  monthAfter,
  monthNamed,
} from '../../../../functions/answers/statement/month.ts';
import type { ClosedStatement } from '../../../../functions/core/statements/closed-statement.ts';
import { dayNumber } from '../../../../policies/limits/calendar.ts';

const day = (month: number, number: number): number => dayNumber({ year: 2026, month, day: number });
const NOVEMBER = { key: '2026-11', from: day(11, 1), to: day(11, 30) };

/** A statement of days of 2026, both included. */
const statement = (key: string, from: readonly [number, number], to: readonly [number, number]) => {
  const startMs = Date.UTC(2026, from[0] - 1, from[1]);
  const endMs = Date.UTC(2026, to[0] - 1, to[1] + 1);
  return { month: key, zone: 'UTC', startMs, endMs } as ClosedStatement;
};

test('a statement has the days from its first instant to its last', () => {
  expect(closedDays(statement('2026-10', [10, 1], [10, 31]))).toEqual({ from: day(10, 1), to: day(10, 31) });
});

test('a month begins on the day after the last statement and ends with its own last day', () => {
  expect(monthAfter(day(10, 31), '01-01')).toEqual(NOVEMBER);
  expect(monthAfter(day(11, 10), '01-01')).toEqual({ ...NOVEMBER, from: day(11, 11) });
  expect(monthAfter(day(11, 29), '01-01')).toEqual({ ...NOVEMBER, from: day(11, 30) });
});

test('a month closes when it is over for five days, to the millisecond', () => {
  const atMs = Date.UTC(2026, 11, 6);
  expect(isClosable(NOVEMBER, 'UTC', atMs)).toBe(true);
  expect(isClosable(NOVEMBER, 'UTC', atMs - 1)).toBe(false);
});

test('a named month has the days of its statement, or those that no statement has', () => {
  const closed = [statement('2026-09', [9, 1], [9, 30]), statement('2026-10', [10, 1], [11, 10])];
  const named = (text: string, statements = closed) => monthNamed(text, '01-01', statements);
  expect(named('2026-10')).toEqual({ key: '2026-10', from: day(10, 1), to: day(11, 10) });
  expect(named('2026-09')).toEqual({ key: '2026-09', from: day(9, 1), to: day(9, 30) });
  expect(named('2026-11')).toEqual({ ...NOVEMBER, from: day(11, 11) });
  expect(named('2026-11', [])).toEqual(NOVEMBER);
  expect(named('2026-12')).toEqual({ key: '2026-12', from: day(12, 1), to: day(12, 31) });
  expect(named('2026-05')).toEqual({ key: '2026-05', from: day(5, 1), to: day(5, 31) });
  expect(named('2026-11', [statement('2026-10', [10, 1], [11, 29])])).toEqual({
    ...NOVEMBER,
    from: day(11, 30),
  });
  expect(named('2026-13')).toBeUndefined();
});
