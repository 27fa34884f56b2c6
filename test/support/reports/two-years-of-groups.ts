/** Ten thousand groups with two years of days and four of months, packed as the drift program packs them. */
import { emptySum, packedSums } from '../../../functions/core/sheets/sheet-rows.ts';
import { classRowName, jobRowName } from '../../../functions/core/sheets/sheet-store.ts';
import { indexDirectory } from '../../../policies/directory.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { spendBooks } from './spend-books.ts';

const GROUPS = 10_000;

export async function twoYearsOfGroups() {
  const directory = indexDirectory(
    Array.from({ length: GROUPS }, (_, index) => ({
      ...{ id: index + 1, path: `group-${index}`, personal: false },
    })),
    [{ id: 1, groupId: 1, path: 'group-0/api' }],
  );
  const { sheets, clock, read, calls } = spendBooks({ directory });
  const rows = new Map(
    Array.from({ length: GROUPS + 1 }, (_, id) => [
      id,
      Float64Array.from([
        ...[id * 1_000_000, 0, 1 + (id % 90), 3_600_000 + id, 3, 1, 2, 0, 0, 1, 0, 60, 7],
        ...[40, 2, id * 900, 7_000 + id, 9, 12, 14, 5, 2, 0],
      ]),
    ]),
  );
  rows.set(0, Float64Array.from([(GROUPS * (GROUPS + 1) * 1_000_000) / 2, 0, 1]));
  const all = packedSums(rows);
  const names = Array.from({ length: 20_000 }, (_, row) => jobRowName(row % 120, String(row % 168)));
  const fewer = new Map(names.slice(0, 5_000).map((_, row) => [row, Float64Array.from([row, 0, 1])]));
  const many = new Map(names.map((_, row) => [row, Float64Array.from([row * 1_000, 0, 9, 60_000 + row])]));
  // Months stay for ever, days for two years.
  for (let back = 0; back < 50; back += 1) {
    const first = Date.UTC(2026, 10 - back, 1);
    const span = new Date(first).toISOString().slice(0, 7);
    const days = Array.from({ length: 31 }, (_, index) =>
      new Date(first + index * DAY_MS).toISOString().slice(0, 10),
    ).filter((day) => day.startsWith(span));
    const packed = new Map(days.map((day) => [day, { digest: 'x', atMs: clock.nowMs() }]));
    for (const kind of ['group', 'project', 'class'] as const) {
      const named = kind === 'class' ? { names: ['small', 'large'] } : {};
      const some = kind === 'class' ? packedSums(new Map([[1, rows.get(7) ?? emptySum()]])) : all;
      await sheets.write({ kind, span, ...some, days: packed, ...named });
      for (const day of back < 25 ? days : []) await sheets.write({ kind, span: day, ...some, ...named });
    }
    for (const day of back < 7 ? days : [])
      await sheets.write({ kind: 'user', span: day, ...packedSums(fewer), names: names.slice(0, 5_000) });
    for (const kind of ['hour', 'schedule', 'user'] as const)
      if (back < 13)
        await sheets.write({
          kind,
          span,
          ...packedSums(kind === 'user' ? new Map() : many),
          days: packed,
          names,
        });
  }
  // A month keeps so many of 10 000 groups and their projects, and a day a quarter of them.
  const classes = Array.from({ length: 20_000 }, (_, row) =>
    classRowName(
      `${row % 2 === 0 ? 'group' : 'project'}/${Math.floor(row / 4)}`,
      row % 4 < 2 ? 'small' : 'large',
    ),
  );
  for (const span of ['2026-10', '2026-11']) {
    const days = Array.from({ length: 30 }, (_, index) => `${span}-${String(index + 1).padStart(2, '0')}`);
    const packed = new Map(days.map((day) => [day, { digest: 'records', atMs: clock.nowMs() }]));
    const kind = 'subject-class';
    await sheets.write({ kind, span, ...packedSums(many), days: packed, names: classes });
    for (const day of days)
      await sheets.write({ kind, span: day, ...packedSums(fewer), names: classes.slice(0, 5_000) });
  }
  return { read, calls, rows };
}
