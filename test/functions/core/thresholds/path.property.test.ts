import fc from 'fast-check';
import { expect, test } from 'vitest';
import { silentLog } from '../../../../functions/core/environment/machine.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { MemoryStore } from '../../../../functions/core/ledger/memory-store.ts';
import { MemoryNotifier } from '../../../../functions/core/notify/notify.ts';
import { announceCrossings } from '../../../../functions/core/thresholds/announce-crossings.ts';
import type { Transition } from '../../../../functions/core/thresholds/crossings.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';
import { memoryAlertMarks } from '../../../support/tables/memory-alert-marks.ts';
import { aLimit, step } from './limits.ts';

const LIMIT = aLimit({ amount: 200, softAmount: 130 });
/** Worked out by hand, not by the code under test. */
const LEVELS = [
  ['50 %', 100],
  ['soft', 130],
  ['75 %', 150],
  ['90 %', 180],
  ['100 %', 200],
] as const;

/** Settled never passes committed; both rise and fall at will. */
const paths = fc
  .array(fc.tuple(fc.nat({ max: 240 }), fc.nat({ max: 60 })), { minLength: 1, maxLength: 12 })
  .map((points) => {
    const values = [[0, 0] as const, ...points.map(([spent, held]) => [spent, spent + held] as const)];
    return values.slice(1).map((to, index) => step(values[index] ?? [0, 0], to));
  });

function house() {
  const clock = manualClock();
  const store = new MemoryStore({ instance: 'gitlab.example.com', clock });
  const ledger = createLedger({ store, clock });
  const notify = new MemoryNotifier();
  const limitOf = async () => ({ limit: LIMIT, subjectLabel: 'group one', to: { owner: 'one' } });
  const alerts = memoryAlertMarks(clock);
  const deps = { ledger, alerts, notify, clock, currency: 'EUR', log: silentLog, limitOf };
  const told = (): readonly string[] =>
    notify.sent.flatMap(({ json }) => {
      const { crossings }: { crossings: { measure: string; level: string }[] } = JSON.parse(json);
      return crossings.map(({ measure, level }) => `${measure} ${level}`);
    });
  return { told, announce: (batch: readonly Transition[]) => announceCrossings(batch, deps) };
}

const passedBy = (path: readonly Transition[]): readonly (readonly string[])[] =>
  (['spent', 'committed'] as const).map((measure) => {
    const most = Math.max(
      ...path.map(({ after }) => (measure === 'spent' ? after.settled : after.committed)),
    );
    return LEVELS.filter(([, amount]) => amount <= most).map(([name]) => `${measure} ${name}`);
  });

test('along any path each level is told at most once, only if passed, and the highest always', async () => {
  await fc.assert(
    fc.asyncProperty(paths, async (path) => {
      const { announce, told } = house();
      for (const transition of path) await announce([transition]);
      const messages = told();
      expect(new Set(messages).size).toBe(messages.length);
      for (const passed of passedBy(path)) {
        if (passed.length > 0) expect(messages).toContain(passed.at(-1));
      }
      const lawful = passedBy(path).flat();
      for (const message of messages) expect(lawful).toContain(message);
    }),
    { numRuns: 200 },
  );
});

test('a path that only rises unit by unit tells every level it passes, in order', async () => {
  const { announce, told } = house();
  for (let at = 0; at < 240; at += 1) await announce([step([0, at], [0, at + 1])]);
  expect(told()).toEqual(LEVELS.map(([name]) => `committed ${name}`));
});

test('records repeated, reordered and cut into any batches tell the highest level, and nothing twice', async () => {
  const deliveries = paths.chain((path) =>
    fc.tuple(
      fc.constant(path),
      fc.shuffledSubarray([...path, ...path], { minLength: path.length * 2 }),
      fc.integer({ min: 1, max: 5 }),
    ),
  );
  await fc.assert(
    fc.asyncProperty(deliveries, async ([path, records, size]) => {
      const { announce, told } = house();
      for (let start = 0; start < records.length; start += size)
        await announce(records.slice(start, start + size));
      const messages = told();
      expect(new Set(messages).size).toBe(messages.length);
      for (const passed of passedBy(path)) {
        if (passed.length > 0) expect(messages).toContain(passed.at(-1));
      }
      await announce(path);
      expect(told()).toEqual(messages);
    }),
    { numRuns: 200 },
  );
});
