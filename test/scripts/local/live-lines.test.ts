import { expect, test } from 'vitest';
import { type Figures, figureLine, LiveBlock, liveLines } from '../../../scripts/local/screen.ts';
import type { LimitSummary } from '../../../scripts/local/summary.ts';

const ESCAPE = String.fromCharCode(27);

const budget = (subject: string, spent: number, held: number, limitAmount: number): LimitSummary => ({
  ...{ subject, limit: 'money-month', period: '2026-11', unit: 'micros', mode: 'enforce' },
  ...{ spent: spent * 1e6, held: held * 1e6, limitAmount: limitAmount * 1e6 },
});

const figures = (...limits: LimitSummary[]): Figures => ({
  ...{ elapsedMs: 4_200, timeMs: Date.parse('2026-11-21T09:00:00Z'), decided: 80, total: 160, running: 9 },
  limits,
});

test('the lines at the bottom are replaced and what was said above them stays', () => {
  let screen = '';
  const block = new LiveBlock({ write: (text) => (screen += text) });
  block.say('first');
  block.show(['a', 'b']);
  block.say('second');
  block.show([]);
  const rows: string[] = [];
  for (const piece of screen.split(ESCAPE)) {
    // `[2F`: two rows up; `[J`: everything from there on is gone.
    const up = /^\[(\d+)F$/.exec(piece)?.[1];
    if (up !== undefined) rows.splice(rows.length - Number(up));
    else rows.push(...piece.replace(/^\[J/, '').split('\n').slice(0, -1));
  }
  expect(rows).toEqual(['first', 'second']);
});

test.each([
  { spent: 0, held: 0, bar: '░'.repeat(20) },
  { spent: 3.75, held: 1.875, bar: `${'█'.repeat(10)}${'▒'.repeat(5)}${'░'.repeat(5)}` },
  { spent: 7.5, held: 0, bar: '█'.repeat(20) },
  { spent: 6, held: 6, bar: `${'█'.repeat(16)}${'▒'.repeat(4)}` },
  { spent: 9, held: 0, bar: '█'.repeat(20) },
])('$spent spent and $held held of 7.50 make a bar of twenty cells', ({ spent, held, bar }) => {
  expect(liveLines(figures(budget('acme/payments', spent, held, 7.5)), 'EUR')[1]).toContain(`EUR  ${bar}`);
});

test('of many budgets those used most are shown, and they fit a terminal of 80 columns', () => {
  const lines = liveLines(
    figures(
      budget('acme', 40, 5, 9_000),
      budget('acme/payments', 3.75, 3.65, 7.5),
      budget('acme/platform', 6, 1, 1_000),
      budget('acme/data', 8, 2, 800),
    ),
    'EUR',
  );
  expect(lines.slice(1).map((line) => line.split(' ')[0])).toEqual([
    'acme/payments',
    'acme/platform',
    'acme/data',
  ]);
  for (const line of lines) expect(line.length).toBeLessThan(80);
});

test('without a terminal the same is one line', () => {
  expect(figureLine(figures(budget('acme/payments', 3.75, 3.65, 7.5)), 'EUR')).toBe(
    '~ 4 s · acme/payments 3.75 spent + 3.65 held of 7.50 EUR · 9 jobs run',
  );
});
