/** Edits the limits of a cohort while jobs run, and checks each admission against the sum of that moment. */
import fc from 'fast-check';
import { expect } from 'vitest';
import type { LedgerClock } from '../../../functions/core/environment/environment.ts';
import type { Ledger } from '../../../functions/core/ledger/ledger.ts';
import { anAsk } from './asks.ts';
import { type CohortMember, cohortClaimsOf, cohortSet } from './cohort-bench.ts';

const JOBS = 30;

const member: fc.Arbitrary<CohortMember> = fc
  .record({
    own: fc.integer({ min: 0, max: 8 }),
    borrow: fc.integer({ min: 0, max: 8 }),
    lend: fc.option(fc.integer({ min: 0, max: 8 }), { nil: undefined }),
  })
  .filter(({ own, borrow }) => own + borrow > 0)
  .map(({ lend, ...rest }) => ({ ...rest, ...(lend !== undefined && { lend }) }));

const some = fc.array(fc.integer({ min: 1, max: JOBS }), { minLength: 1, maxLength: 10 });
const by = fc.constantFrom(0, 1);
const op = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('hold' as const), by, jobs: some }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('end' as const), by, jobs: some }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('unmetered' as const), by, jobs: some }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('edit' as const), index: fc.nat(), member }) },
);

interface EditedCohort {
  readonly members: readonly CohortMember[];
  readonly ops: readonly (typeof op extends fc.Arbitrary<infer Op> ? Op : never)[];
}

export const editedCohort: fc.Arbitrary<EditedCohort> = fc.record({
  members: fc.array(member, { minLength: 2, maxLength: 4 }),
  ops: fc.array(op, { minLength: 4, maxLength: 25 }),
});

/** @param ledgers - two programs on one table. */
export async function expectSumKept(
  { members: before, ops }: EditedCohort,
  ledgers: readonly Ledger[],
  clock: LedgerClock,
): Promise<void> {
  const [first] = ledgers as readonly [Ledger];
  const members = [...before];
  const ids = Array.from({ length: JOBS }, (_, index) => index + 1);
  const ask = (jobId: number) =>
    anAsk(jobId, cohortClaimsOf(cohortSet(members), (jobId % members.length) + 1, 1 + (jobId % 3)));
  const running = async (): Promise<number> =>
    (await first.readRecords(ids))
      .flatMap((record) => record?.claims ?? [])
      .reduce((sum, { counter, counted }) => sum + (counter.subject.startsWith('group/') ? counted : 0), 0);
  for (const one of ops) {
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
}
