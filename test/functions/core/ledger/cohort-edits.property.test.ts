import fc from 'fast-check';
import { test } from 'vitest';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { editedCohort, expectSumKept } from '../../../support/ledger/cohort-edits.ts';
import { MemoryStore } from '../../../support/ledger/memory-store.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

test('no admission takes a cohort past its sum, however its limits are edited while jobs run', async () => {
  await fc.assert(
    fc.asyncProperty(editedCohort, async (edited) => {
      const clock = manualClock();
      const store = new MemoryStore({ instance: 'gitlab.example.com', clock });
      await expectSumKept(
        edited,
        [0, 1].map(() => createLedger({ store, clock, random: () => 0.5 })),
        clock,
      );
    }),
    { numRuns: propertyRuns(2_500) },
  );
});
