/** The promises of a cohort at every commit, whatever order and faults two ledgers on one table meet. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import type { HoldRequest, JobRecord, Ledger } from '../../../../functions/core/ledger/ledger.ts';
import { anAsk } from '../../../support/ledger/asks.ts';
import {
  brokenPromise,
  cohortClaimsOf,
  cohortSet,
  someMember,
} from '../../../support/ledger/cohort-bench.ts';
import { MemoryStore, type StoreFault } from '../../../support/ledger/memory-store.ts';
import { steppedClock } from '../../../support/ledger/test-clock.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const JOBS = 16;

const member = someMember(6, 5);

const some = fc.array(fc.integer({ min: 1, max: JOBS }), { minLength: 1, maxLength: 6 });
const by = fc.constantFrom(0, 1);
const op = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('hold' as const), by, jobs: some }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('settle' as const, 'release' as const, 'expire' as const),
      by,
      jobs: some,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('unmetered' as const, 'bypass' as const, 'advance' as const),
      by,
      jobs: some,
    }),
  },
);

const fault: fc.Arbitrary<StoreFault | undefined> = fc.oneof(
  { weight: 8, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constantFrom<StoreFault>({ kind: 'conflict' }, { kind: 'lost-after' }) },
);

test('no group takes more than it may, no cohort runs more than it owns, and nothing is borrowed that nobody lends', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(member, { minLength: 2, maxLength: 4 }),
      fc.array(op, { minLength: 3, maxLength: 20 }),
      fc.array(fault, { maxLength: 30 }),
      async (scheduler, members, ops, faults) => {
        const step = (label: string): Promise<void> => scheduler.schedule(Promise.resolve(), label);
        const clock = steppedClock(step);
        const left = [...faults];
        const broken: string[] = [];
        const store: MemoryStore = new MemoryStore({
          instance: 'gitlab.example.com',
          clock,
          schedule: step,
          fault: () => left.shift(),
          onCommit: () => {
            const why = brokenPromise(members, records(store));
            if (why !== undefined) broken.push(why);
          },
        });
        const ledgers = [0, 1].map(() => createLedger({ store, clock, random: () => 0.5 }));
        const set = cohortSet(members);
        const ask = (jobId: number): HoldRequest =>
          anAsk(jobId, cohortClaimsOf(set, (jobId % members.length) + 1, 1 + (jobId % 3)));
        const run = async (ledger: Ledger, kind: (typeof ops)[number]['kind'], jobs: readonly number[]) => {
          const deadlineMs = clock.monotonicMs() + 5_000;
          const atMs = clock.nowMs();
          if (kind === 'hold') await ledger.hold(jobs.map(ask), deadlineMs);
          else if (kind === 'advance') clock.advance(61_000);
          else if (kind === 'settle' || kind === 'bypass') {
            const ends = jobs.map((jobId) => ({ ...ask(jobId), durationSeconds: 5, endedAtMs: atMs }));
            await (kind === 'settle' ? ledger.settle(ends) : ledger.recordBypass(ends));
          } else if (kind === 'unmetered') {
            const told = { answered: 'admitted', cause: 'deadline', answeredAtMs: atMs } as const;
            await ledger.recordUnmetered(
              jobs.map((jobId) => ({ ...ask(jobId), ...told })),
              deadlineMs,
            );
          } else if (kind === 'release')
            await ledger.release(jobs.map((jobId) => ({ jobId, cause: 'canceled' })));
          else await ledger.expire(jobs.map((jobId) => ({ jobId, cause: '404', charge: 'hold' as const })));
        };
        const running = ops.map(async (one) => {
          await step(one.kind);
          await run(ledgers[one.by] as Ledger, one.kind, one.jobs);
        });
        await scheduler.waitFor(Promise.all(running));
        expect(broken).toEqual([]);

        left.length = 0;
        const rest = ledgers[0] as Ledger;
        const report = scheduler.waitFor(rest.rebuild({ repair: false }));
        expect((await report).drift).toEqual([]);
        const all = Array.from({ length: JOBS }, (_, index) => ({ jobId: index + 1, cause: 'swept' }));
        await scheduler.waitFor(rest.release(all));
        for (const item of store.dump())
          if (item.kind === 'counter') expect(item.counter).toMatchObject({ committed: 0 });
      },
    ),
    { numRuns: propertyRuns(1000) },
  );
});

function* records(store: MemoryStore): Generator<JobRecord> {
  for (const item of store.dump()) if (item.kind === 'record') yield item.record;
}
