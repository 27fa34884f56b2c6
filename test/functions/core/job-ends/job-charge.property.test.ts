import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chargeLines } from '../../../../functions/core/job-ends/job-charge.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { anAsk, claim, counter, someFacts } from '../../../support/ledger/asks.ts';
import { MemoryStore } from '../../../support/ledger/memory-store.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';

/** What may happen to a job after its hold, in any order. */
type Happening = { readonly settle: number } | 'release' | 'expire' | 'expire charged' | 'ask again';

const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({ settle: fc.integer({ min: 0, max: 4_000 }) }),
  fc.constantFrom('release', 'expire', 'expire charged', 'ask again'),
);

const SECONDS = counter('group/1', 'minutes-month');

test('the lines of all jobs add up to what their counters have settled, in money and in seconds', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({ rate: fc.constantFrom(0, 7, 60, 12_345), lives: fc.array(happening, { maxLength: 5 }) }),
        {
          maxLength: 6,
        },
      ),
      fc.boolean(),
      async (jobs, withSeconds) => {
        const clock = manualClock();
        const store = new MemoryStore({ instance: 'gitlab.example.com', clock });
        const ledger = createLedger({ store, clock });
        for (const [index, { rate, lives }] of jobs.entries()) {
          const jobId = index + 1;
          const ask = anAsk(
            jobId,
            [
              claim('group/1', rate * 10),
              ...(withSeconds
                ? [claim('group/1', 600, undefined, { counter: SECONDS, unit: 'seconds' as const })]
                : []),
            ],
            { facts: someFacts({ microsPerMinute: rate, costMicros: rate * 10 }) },
          );
          const hold = () => ledger.hold([ask], clock.monotonicMs() + 60_000);
          await hold();
          for (const each of lives) {
            clock.advance(61_000);
            if (each === 'ask again') await hold();
            else if (each === 'release') await ledger.release([{ jobId, cause: 'test' }]);
            else if (each === 'expire') await ledger.expire([{ jobId, cause: 'test', charge: 'nothing' }]);
            else if (each === 'expire charged')
              await ledger.expire([{ jobId, cause: 'test', charge: 'hold' }]);
            else await ledger.settle([{ jobId, durationSeconds: each.settle, endedAtMs: clock.nowMs() }]);
          }
        }
        let [micros, seconds] = [0, 0];
        for (const item of store.dump()) {
          if (item.kind !== 'record') continue;
          const lines = chargeLines(
            item.record,
            await store.readEntries(item.record.jobId, { timeoutMs: 1_000 }),
          );
          for (const line of lines) {
            micros += line.micros;
            seconds += line.seconds;
          }
          if (item.record.state === 'SETTLED' && item.record.facts.microsPerMinute >= 60)
            expect(lines.reduce((sum, line) => sum + line.seconds, 0)).toBe(item.record.durationSeconds);
        }
        const [money, time] = await ledger.readCounters([counter('group/1'), SECONDS]);
        expect(micros).toBe(money?.settled);
        if (withSeconds) expect(seconds).toBe(time?.settled);
      },
    ),
  );
});
