import { expect, test } from 'vitest';
import { monthChart } from './month/chart.ts';
import type { Course } from './month/course.ts';
import { MONTH_START_MS } from './month/shape.ts';

const HOUR_MS = 3_600_000;

const course = (over: Partial<Course> = {}): Course => ({
  path: 'acme/payments',
  limitMicros: 40_000_000,
  hours: Array.from({ length: 720 }, (_, index) => ({
    atMs: MONTH_START_MS + (index + 1) * HOUR_MS,
    spentMicros: Math.min(40_000_000, index * 80_000),
    heldMicros: 2_000_000,
    rejections: index === 599 || index === 600 ? 7 : 0,
  })),
  ...over,
});

test('the chart names the group, its limit, the units of its axes and everything it draws', () => {
  const svg = monthChart(course());
  for (const text of ['acme/payments', 'limit 40.00 EUR', '>EUR<', '>jobs a day<', '>day of the month<'])
    expect(svg).toContain(text);
  for (const text of ['>spent<', '>held<', '>rejected jobs<', '>40<', '>30<']) expect(svg).toContain(text);
});

test('rejections of the hour that ends at midnight belong to the day before', () => {
  const tops = [...monthChart(course()).matchAll(/<rect class="rejected" x="[\d.]+" y="([\d.]+)"/g)];
  const bars = tops.filter(([, y]) => Number(y) > 400);
  expect(bars).toHaveLength(2);
});

test('money above the limit stays inside the drawing', () => {
  const hours = course().hours.map((hour) => ({ ...hour, spentMicros: 55_000_000, heldMicros: 5_000_000 }));
  const areas = [...monthChart(course({ hours })).matchAll(/<path class="(?:spent|held)" d="([^"]+)"/g)];
  const heights = areas.flatMap(([, path = '']) =>
    path.split('L').map((point) => Number.parseFloat(point.split(' ')[1] ?? '')),
  );
  expect(heights.length).toBeGreaterThan(700);
  expect(Math.min(...heights)).toBeGreaterThanOrEqual(96);
});

test('a month without anything is drawn, too', () => {
  expect(monthChart(course({ hours: [], limitMicros: 0 }))).not.toMatch(/NaN|Infinity|undefined/);
});

test("what a group's path contains cannot become markup", () => {
  expect(monthChart(course({ path: '<script>&' }))).toContain('&lt;script&gt;&amp;');
});
