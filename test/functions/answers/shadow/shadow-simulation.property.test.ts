import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ShadowOptions } from '../../../../functions/answers/shadow/shadow-simulation.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import type { JobRecord } from '../../../../functions/core/ledger/ledger.ts';
import { MemoryStore } from '../../../../functions/core/ledger/memory-store.ts';
import { anAsk, counter, shadowClaim } from '../../../support/ledger/asks.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';
import { simulateShadow } from '../../../support/simulate-shadow.ts';

const ALL: ShadowOptions = {
  sinceMs: 0,
  untilMs: Number.POSITIVE_INFINITY,
  counts: () => true,
  passesMissing: () => false,
};
const MINUTE_MS = 60_000;

/** A job: what it asks of which group, when it comes after the one before, and when it ends, if it does. */
interface Life {
  readonly group: number;
  readonly amount: number;
  readonly afterMs: number;
  readonly runsMs?: number | undefined;
}

const life = (amount: fc.Arbitrary<number>): fc.Arbitrary<Life> =>
  fc.record({
    group: fc.constantFrom(1, 2),
    amount,
    afterMs: fc.integer({ min: 1, max: 5 }).map((minutes) => minutes * MINUTE_MS),
    // Half a minute off, so that no end meets a beginning.
    runsMs: fc.option(
      fc.integer({ min: 0, max: 9 }).map((minutes) => minutes * MINUTE_MS + MINUTE_MS / 2),
      { nil: undefined },
    ),
  });

interface Told {
  readonly records: readonly JobRecord[];
  /** Counted beside the ledger: who would not have fitted into everything that ran. */
  readonly naive: number;
}

/** Lives jobs through a real ledger whose limits only watch; `settled` is what is charged at the end, 1 micro a second. */
async function lived(lives: readonly Life[], bound: number): Promise<Told> {
  const clock = manualClock();
  const store = new MemoryStore({ instance: 'shadow.example.com', clock });
  const ledger = createLedger({ store, clock });
  const committed = new Map<number, number>();
  const running: { jobId: number; group: number; held: number; endsAtMs: number; runsMs: number }[] = [];
  let naive = 0;
  const endUntil = async (atMs: number): Promise<void> => {
    running.sort((a, b) => a.endsAtMs - b.endsAtMs);
    for (let next = running[0]; next !== undefined && next.endsAtMs <= atMs; next = running[0]) {
      running.shift();
      const seconds = next.runsMs / 1_000;
      await ledger.settle([{ jobId: next.jobId, durationSeconds: seconds, endedAtMs: next.endsAtMs }]);
      committed.set(next.group, (committed.get(next.group) ?? 0) - next.held + Math.ceil(seconds));
    }
  };
  for (const [index, { group, amount, afterMs, runsMs }] of lives.entries()) {
    clock.advance(afterMs);
    await endUntil(clock.nowMs());
    const jobId = index + 1;
    const before = committed.get(group) ?? 0;
    if (before + amount > bound) naive += 1;
    committed.set(group, before + amount);
    await ledger.hold(
      [anAsk(jobId, [shadowClaim(`group/${group}`, amount, bound)])],
      clock.monotonicMs() + 60_000,
    );
    if (runsMs !== undefined)
      running.push({ jobId, group, held: amount, endsAtMs: clock.nowMs() + runsMs, runsMs });
  }
  await endUntil(Number.POSITIVE_INFINITY);
  const records: JobRecord[] = [];
  for (const item of store.dump()) if (item.kind === 'record') records.push(item.record);
  for (const group of [1, 2]) {
    const [now] = await ledger.readCounters([counter(`group/${group}`)]);
    expect(now?.committed, 'the test counts as the ledger does').toBe(committed.get(group) ?? 0);
  }
  return { records, naive };
}

const lives = (amount: fc.Arbitrary<number>) => fc.array(life(amount), { maxLength: 25 });
const anyAmount = fc.integer({ min: 1, max: 900 });

test('the naive count is what counters of everything that ran would have refused', async () => {
  await fc.assert(
    fc.asyncProperty(lives(anyAmount), fc.integer({ min: 900, max: 3_000 }), async (all, bound) => {
      const { records, naive } = await lived(all, bound);
      expect(simulateShadow(records, ALL).naive).toBe(naive);
    }),
  );
});

test('the true count is the jobs with a shadow violation, and never more than the naive one', async () => {
  await fc.assert(
    fc.asyncProperty(lives(fc.constant(300)), fc.integer({ min: 300, max: 3_000 }), async (all, bound) => {
      const { records } = await lived(all, bound);
      const figures = simulateShadow(records, ALL);
      expect(figures.jobs).toBe(all.length);
      expect(figures.wouldFail).toBe(records.filter(({ shadow }) => shadow.length > 0).length);
      expect(figures.naive ?? -1).toBeGreaterThanOrEqual(figures.wouldFail);
      for (const row of figures.rows) expect(row.naive ?? -1).toBeGreaterThanOrEqual(row.jobs);
    }),
  );
});

test('where nothing was refused both counts are none', async () => {
  await fc.assert(
    fc.asyncProperty(lives(anyAmount), async (all) => {
      const { records } = await lived(all, 1_000_000);
      expect(simulateShadow(records, ALL)).toMatchObject({ wouldFail: 0, naive: 0, rows: [], costMicros: 0 });
    }),
  );
});

test('the order in which records are read changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(lives(anyAmount), fc.infiniteStream(fc.nat()), async (all, random) => {
      const { records } = await lived(all, 1_000);
      const shuffled = records
        .map((record) => ({ record, key: random.next().value ?? 0 }))
        .sort((a, b) => a.key - b.key)
        .map(({ record }) => record);
      expect(simulateShadow(shuffled, ALL)).toEqual(simulateShadow(records, ALL));
    }),
  );
});
