/** A year of jobs on books whose garbage is really collected, each night with the closing of periods and the recount. */
import { expect, test } from 'vitest';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { createClosing } from '../../../../functions/core/ledger/rebuild.ts';
import { CALENDAR_YEAR, type PeriodKind, periodAt } from '../../../../policies/limits/period.ts';
import { anAsk, claim, counter } from '../../../support/ledger/asks.ts';
import { MemoryStore } from '../../../support/ledger/memory-store.ts';
import { manualClock, NOVEMBER_21_MS } from '../../../support/ledger/test-clock.ts';

const DAY_MS = 86_400_000;
const ZONE = 'Europe/Berlin';
const KINDS: readonly PeriodKind[] = ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'];

function books() {
  const clock = manualClock();
  const store = new MemoryStore({ instance: 'gitlab.example.com', clock });
  const ledger = createLedger({ store, clock, random: () => 0 });
  let jobs = 0;
  const periodOf = (kind: PeriodKind): string => periodAt(kind, ZONE, clock.nowMs(), CALENDAR_YEAR).key;
  const months = new Map<string, number>();

  const spend = (month: string, amount: number): void => {
    months.set(month, (months.get(month) ?? 0) + amount);
  };
  /** One job of 60 to 69 seconds on every kind of counter, and one of a group without any but the month's. */
  async function aDay(day: number): Promise<void> {
    const seconds = 60 + (day % 10);
    const month = periodOf('month');
    const wide = KINDS.map((kind) =>
      claim('group/1', 100, 1_000_000, { counter: counter('group/1', kind, periodOf(kind)) }),
    );
    const narrow = [claim('group/2', 100, 1_000_000, { counter: counter('group/2', 'month', month) })];
    const ids = [jobs + 1, jobs + 2];
    jobs += 2;
    const asks = [wide, narrow].map((claims, index) => anAsk(ids[index] ?? 0, claims));
    expect(await ledger.hold(asks, clock.monotonicMs() + 60_000)).toMatchObject([
      { outcome: 'admitted' },
      { outcome: 'admitted' },
    ]);
    const endedAtMs = clock.nowMs() + seconds * 1000;
    await ledger.settle(ids.map((jobId) => ({ jobId, durationSeconds: seconds, endedAtMs })));
    spend(month, seconds);
  }
  /** All that is due. */
  async function close(): Promise<number> {
    const closePeriods = createClosing({ store, clock, random: () => 0 });
    let closed = 0;
    for (;;) {
      const page = await closePeriods(clock.monotonicMs() + 60_000);
      closed += page.closed;
      if (page.closed + page.waiting === 0) return closed;
    }
  }
  return { clock, store, ledger, months, spend, aDay, close, periodOf };
}

test('over a year with expiry no night finds drift, closed months stay as they were, and windows go', async () => {
  const { clock, store, ledger, months, spend, aDay, close, periodOf } = books();
  const firstMonth = periodOf('month');
  let drifting = 0;
  let closed = 0;
  for (let day = 0; day < 400; day += 1) {
    await aDay(day);
    if (day === 50) {
      // A late truth: the first job ran longer than was told. Its month is closed by then.
      const outcome = await ledger.settle([
        { jobId: 2, durationSeconds: 90, endedAtMs: NOVEMBER_21_MS + 90_000 },
      ]);
      expect(outcome).toEqual(['corrected']);
      spend(firstMonth, 30);
    }
    clock.advance(DAY_MS);
    store.collectGarbage();
    closed += await close();
    const night = await ledger.rebuild({ repair: true });
    drifting += night.drift.length + night.unproven.length;
  }
  expect(drifting).toBe(0);
  expect(closed).toBeGreaterThan(2 * 12);
  const keys = [...months.keys()].map((month) => counter('group/2', 'month', month));
  expect((await ledger.readCounters(keys)).map(({ settled }) => settled)).toEqual([...months.values()]);
  // The first winter leaves no record of group 2's jobs, and no window of either.
  const left = [...store.dump()];
  expect(left.some((item) => item.kind === 'record' && item.record.jobId === 2)).toBe(false);
  const windows = left.filter(
    (item) => item.kind === 'counter' && /^\d{4}-\d{2}-\d{2}/.test(item.counter.key.period),
  );
  expect(windows.length).toBeLessThanOrEqual(3 * 130);
});

test('a job that passed us by and is heard of months after its end keeps its record as long as its charge', async () => {
  const { clock, store, ledger } = books();
  const ask = {
    ...anAsk(1, [claim('group/1', 100)]),
    decidedAtMs: clock.nowMs(),
    unchecked: 'bypass' as const,
  };
  const end = { durationSeconds: 60, endedAtMs: clock.nowMs() - 110 * DAY_MS };
  expect(await ledger.recordBypass([{ ...ask, ...end }])).toEqual(['applied']);
  clock.advance(20 * DAY_MS);
  store.collectGarbage();
  expect((await ledger.rebuild({ repair: true })).drift).toEqual([]);
  expect(await ledger.readRecord(1)).toMatchObject({ state: 'SETTLED' });
});
