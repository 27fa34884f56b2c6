/** Random records, counted and packed at random times: what reports say of retries and queues is what the jobs' records say. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SPEND_KEYS, type SpendFigures } from '../../../../functions/answers/report/model.ts';
import type { JobRecord } from '../../../../functions/core/ledger/ledger.ts';
import { costMicros } from '../../../../policies/price.ts';
import { someFacts } from '../../../support/ledger/asks.ts';
import { aRecord } from '../../../support/ledger/rollup-bench.ts';
import { spendBooks } from '../../../support/reports/spend-books.ts';
import { USERS } from '../../console/house.ts';

const DAY_MS = 86_400_000;
/** Since the middle of October. */
const BACK_MAX = 37;
const BOUNDS = [10, 60, 300, 900, 3_600, Number.POSITIVE_INFINITY];

const job = fc.record({
  place: fc.constantFrom(
    { projectId: 1, groupId: 104, groupIds: [100, 101, 104] },
    { projectId: 2, groupId: 201, groupIds: [200, 201] },
    { projectId: 4711 },
  ),
  runnerClass: fc.constantFrom('large', 'small', 'gone'),
  ref: fc.constantFrom(undefined, 'main', 'slow'),
  back: fc.oneof(fc.integer({ min: 1, max: 2 }), fc.integer({ min: 0, max: BACK_MAX })),
  state: fc.constantFrom('SETTLED', 'SETTLED', 'SETTLED', 'HELD', 'RELEASED', 'REJECTED'),
  seconds: fc.integer({ min: 0, max: 90_000 }),
  retryCount: fc.constantFrom(undefined, 0, 1, 7),
  queuedSeconds: fc.oneof(
    fc.constantFrom(undefined, ...BOUNDS.slice(0, -1)),
    fc.integer({ min: 0, max: 2_678_400 }),
  ),
} as const);
type DrawnJob = typeof job extends fc.Arbitrary<infer T> ? T : never;

function recordOf(drawn: DrawnJob, index: number, nowMs: number): JobRecord {
  const { place, runnerClass, ref, back, state, seconds, retryCount, queuedSeconds } = drawn;
  const decidedAtMs = nowMs - back * DAY_MS;
  const facts = someFacts({
    ...{ ...place, runnerClass, microsPerMinute: 7_000 },
    ...(ref !== undefined && { asked: { ref } }),
    ...(retryCount !== undefined && { retryCount }),
    ...(queuedSeconds !== undefined && { queuedSeconds }),
  });
  const { dueAtMs, ...rest } = aRecord({ jobId: index + 1, facts, decidedAtMs, state });
  if (state === 'HELD') return { ...rest, ...(dueAtMs !== undefined && { dueAtMs }) };
  const ended = { ...rest, rev: 2, endedAtMs: decidedAtMs + 1_000 };
  return state === 'SETTLED' ? { ...ended, durationSeconds: seconds } : ended;
}

/** What the records say, counted another way. */
function toldBy(records: readonly JobRecord[]) {
  const settled = records.filter(({ state }) => state === 'SETTLED');
  const told = <T>(of: (record: JobRecord) => T | undefined) =>
    settled.map(of).filter((value) => value !== undefined);
  const queued = told(({ facts }) => facts.queuedSeconds);
  const retries = settled.filter(({ facts }) => (facts.retryCount ?? 0) > 0);
  return {
    figures: {
      ran: records.filter(({ state }) => state === 'SETTLED' || state === 'HELD').length,
      retriesKnown: told(({ facts }) => facts.retryCount).length,
      retries: retries.length,
      retryMicros: retries.reduce(
        (sum, { facts, durationSeconds = 0 }) => sum + costMicros(facts.microsPerMinute, durationSeconds),
        0,
      ),
      queuedKnown: queued.length,
      queuedSeconds: queued.reduce((sum, seconds) => sum + seconds, 0),
    } satisfies Partial<SpendFigures>,
    steps: BOUNDS.map(
      (bound, index) =>
        queued.filter((seconds) => seconds <= bound && seconds > (BOUNDS[index - 1] ?? -1)).length,
    ),
  };
}

test('retries and queues of a report are its jobs’, by whatever key and however it was packed', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(job, { maxLength: 25 }),
      fc.constantFrom({ period: 'month' }, { from: '2026-10-15', to: '2026-11-21' }, { period: '2026-q4' }),
      fc.constantFrom('instance', '100', '200'),
      fc.boolean(),
      async (drawn, days, group, packs) => {
        const books = spendBooks({ packs, partBytes: 30 });
        const nowMs = books.clock.nowMs();
        const records = drawn.map((each, index) => recordOf(each, index, nowMs));
        await books.packRecords(records);
        for (let run = 0; packs && run < 2; run += 1) await books.pack();
        const { figures, steps } = toldBy(
          records.filter(
            ({ facts, decidedAtMs }) =>
              (group === 'instance' || String(facts.groupIds?.[0]) === group) &&
              (days.period !== 'month' || decidedAtMs >= Date.UTC(2026, 10, 1)),
          ),
        );
        for (const by of SPEND_KEYS) {
          const answer = await books.read.spend({ ...days, by, group, top: 2 }, USERS.finance);
          if (answer.outcome !== 'reported') continue;
          const { total, rows, other, queue } = answer.report;
          expect(total).toMatchObject(figures);
          expect(queue.map(({ jobs }) => jobs)).toEqual(steps);
          for (const figure of Object.keys(figures) as (keyof typeof figures)[])
            expect(rows.reduce((sum, row) => sum + row[figure], other[figure])).toBe(total[figure]);
        }
        const answer = await books.read.spendList({ ...days, group }, USERS.finance);
        if (answer.outcome !== 'listed') throw new Error(answer.outcome);
        for (const [figure, sum] of Object.entries(figures) as [keyof typeof figures, number][])
          expect(answer.list.lines.reduce((all, line) => all + line[figure], 0)).toBe(sum);
      },
    ),
    { numRuns: 40 },
  ));
