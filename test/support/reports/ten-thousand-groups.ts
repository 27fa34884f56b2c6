/** Ten thousand groups, each with a budget by default and months of usage, packed as the drift program packs them. */
import type { Counter } from '../../../functions/core/ledger/ledger.ts';
import { emptySum, FIGURES, packedSums } from '../../../functions/core/sheets/sheet-rows.ts';
import { dynamoSheetStore } from '../../../functions/core/sheets/sheet-store.ts';
import { MemoryTable } from '../../../functions/core/store/memory-table.ts';
import type { ItemTable } from '../../../functions/core/store/operation.ts';
import { dynamoCounterSnapshots } from '../../../functions/core/usage/counter-snapshot.ts';
import { indexDirectory } from '../../../policies/directory.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { consoleHouse } from '../../functions/console/house.ts';
import { manualClock } from '../ledger/test-clock.ts';

export const GROUPS = 10_000;
const INSTANCE = 'gitlab.example.com';
/** The limits' and the directory's, which say whether what is in memory still holds. */
const POINTERS = 2;
export const HISTORY_DAYS = 56;

const copyOf = (id: number, period: string, committed: number): Counter => ({
  ...{ key: { subject: `group/${id}`, limit: 'money-month', period }, committed, fitted: committed, rev: 1 },
  ...{ settled: committed, unchecked: { exempt: 0, unmetered: 0, bypass: 0 } },
});

export async function tenThousandGroups() {
  const groups = Array.from({ length: GROUPS }, (_, id) => ({
    ...{ id: id + 1, path: `team-${String(id + 1).padStart(5, '0')}`, personal: false },
  }));
  const memory = new MemoryTable();
  let requests = 0;
  const table: ItemTable = {
    tableName: memory.tableName,
    send: (name, operation) => {
      requests += 1;
      return memory.send(name, operation);
    },
  };
  const clock = manualClock();
  const nowMs = clock.nowMs();
  const deps = { table, instance: INSTANCE, clock: { ...clock, sleep: async () => {} }, random: () => 0 };
  const [counterSnapshots, sheets] = [dynamoCounterSnapshots(deps), dynamoSheetStore(deps)];
  // Everybody is at a tenth, and five teams use more and more.
  const micros = (id: number): number => (id % 2_000 === 7 ? 90_000_000 + id : 10_000_000);
  const copies = groups.flatMap(({ id }) => [
    copyOf(id, '2026-11', micros(id)),
    copyOf(id, '2026-10', 20_000_000),
  ]);
  await counterSnapshots.fold();
  await counterSnapshots.append(copies, '1');
  await counterSnapshots.fold();
  await counterSnapshots.recounted(nowMs);
  const rows = new Map(
    [0, ...groups.map(({ id }) => id)].map((id) => {
      const sum = emptySum();
      sum[FIGURES.indexOf('settledMicros')] = 2_000_000 + id;
      sum[FIGURES.indexOf('jobs')] = 1 + (id % 70);
      sum[FIGURES.indexOf('rejected')] = id % 2;
      sum[FIGURES.indexOf('milliseconds')] = 90_000 + id;
      return [id, sum] as const;
    }),
  );
  const packed = packedSums(rows);
  const months = new Map<string, string[]>();
  for (let back = 1; back <= HISTORY_DAYS + 31; back += 1) {
    const day = new Date(nowMs - back * DAY_MS).toISOString().slice(0, 10);
    months.set(day.slice(0, 7), [...(months.get(day.slice(0, 7)) ?? []), day]);
    await sheets.write({ kind: 'group', span: day, ...packed });
  }
  for (const [span, days] of months)
    await sheets.write({
      ...{ kind: 'group', span, ...packed },
      days: new Map(days.map((day) => [day, { digest: 'x', atMs: nowMs }])),
    });
  const found = consoleHouse({
    directory: indexDirectory(groups),
    packed: { group_defaults: [{ groups: '*', money: 100, per: 'month' }] },
    copies: { counterSnapshots, sheets },
  });
  // Since the copies were made, one that led them has used up all it had.
  found.counts('group/2007', 'money-month', '2026-11', 100_000_000);
  for (const id of [7, 4007, 6007, 8007]) found.counts(`group/${id}`, 'money-month', '2026-11', micros(id));
  const measured = async <T>(
    ask: () => Promise<T>,
  ): Promise<{ readonly answer: T; readonly asked: number }> => {
    requests = 0;
    const before = found.reads.calls;
    const answer = await ask();
    return { answer, asked: requests + found.reads.calls - before + POINTERS };
  };
  return { ...found, copies, measured };
}
