/** Edits the limits of a cohort while jobs run, and checks each admission against the sum of that moment. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import type { Ledger } from '../../../../functions/core/ledger/ledger.ts';
import { anAsk } from '../../../support/ledger/asks.ts';
import { cohortClaimsOf, cohortSet, someMember } from '../../../support/ledger/cohort-bench.ts';
import { MemoryStore } from '../../../support/ledger/memory-store.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const JOBS = 30;

const member = someMember(8, 8);

const some = fc.array(fc.integer({ min: 1, max: JOBS }), { minLength: 1, maxLength: 10 });
const by = fc.constantFrom(0, 1);
const op = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('hold' as const), by, jobs: some }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('end' as const), by, jobs: some }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('unmetered' as const), by, jobs: some }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('edit' as const), index: fc.nat(), member }) },
);

const ops = fc.array(op, { minLength: 4, maxLength: 25 });
const cohort = fc.array(member, { minLength: 2, maxLength: 4 });

test('no admission takes a cohort past its sum, however its limits are edited while jobs run', async () => {
  await fc.assert(
    fc.asyncProperty(cohort, ops, async (before, edits) => {
      const clock = manualClock();
      const store = new MemoryStore({ instance: 'gitlab.example.com', clock });
      // Two programs on one table.
      const ledgers = [0, 1].map(() => createLedger({ store, clock, random: () => 0.5 }));
      const first = ledgers[0] as Ledger;
      const members = [...before];
      const ids = Array.from({ length: JOBS }, (_, index) => index + 1);
      const ask = (jobId: number) =>
        anAsk(jobId, cohortClaimsOf(cohortSet(members), (jobId % members.length) + 1, 1 + (jobId % 3)));
      const running = async (): Promise<number> =>
        (await first.readRecords(ids))
          .flatMap((record) => record?.claims ?? [])
          .reduce(
            (sum, { counter, counted }) => sum + (counter.subject.startsWith('group/') ? counted : 0),
            0,
          );
      for (const one of edits) {
        if (one.kind === 'edit') {
          members[one.index % members.length] = one.member;
          continue;
        }
        const ledger = ledgers[one.by] as Ledger;
        const deadlineMs = clock.monotonicMs() + 300_000;
        if (one.kind === 'end') await ledger.release(one.jobs.map((jobId) => ({ jobId, cause: 'canceled' })));
        else if (one.kind === 'unmetered') {
          const answer = { answered: 'admitted', cause: 'deadline', answeredAtMs: clock.nowMs() } as const;
          await ledger.recordUnmetered(
            one.jobs.map((jobId) => ({ ...ask(jobId), ...answer })),
            deadlineMs,
          );
        } else {
          const ran = await running();
          await ledger.hold(one.jobs.map(ask), deadlineMs);
          const runs = await running();
          const sum = members.reduce((all, { own }) => all + own, 0);
          // Jobs that an edit left above the sum go on running, and no job is admitted next to them.
          expect(runs, `${runs} run of ${sum}: ${JSON.stringify(members)}`).toBeLessThanOrEqual(
            Math.max(sum, ran),
          );
        }
      }
      await first.release(ids.map((jobId) => ({ jobId, cause: 'swept' })));
      expect((await first.rebuild({ repair: false })).drift).toEqual([]);
    }),
    { numRuns: propertyRuns(2_500) },
  );
});
