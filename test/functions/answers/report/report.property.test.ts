/** Random books, packed at random times: every report of them adds up to its jobs, to the micro-unit. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dayText } from '../../../../functions/answers/reading/usage-days.ts';
import { SPEND_KEYS, type SpendFigures } from '../../../../functions/answers/report/model.ts';
import { type MadeUpJob, spendBooks } from '../../../support/reports/spend-books.ts';
import { DIRECTORY, USERS } from '../../console/house.ts';

const TODAY = Math.floor(Date.UTC(2026, 10, 21) / 86_400_000);
/** Through New Year and a leap year's end. */
const BACK_MAX = 400;

const place = fc.constantFrom(
  { projectId: 1, groupId: 104 },
  { projectId: 2, groupId: 201 },
  { projectId: 77, groupId: 101 },
  { groupId: 102 },
  { groupId: 190 },
  { projectId: 4711 },
  {},
);
const job = fc
  .record({
    place,
    back: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: BACK_MAX })),
    runnerClass: fc.constantFrom('large', 'small', '', 'gone'),
    micros: fc.integer({ min: -5, max: 9_000_000_000 }),
    seconds: fc.integer({ min: 0, max: 90_000 }).map((ms) => ms / 1_000),
    bucket: fc.constantFrom(undefined, 'q10', 'q11', 'q17'),
    rejected: fc.boolean(),
  })
  .map(({ place: at, back, ...more }): MadeUpJob & { readonly number: number } => ({
    ...at,
    number: TODAY - back,
    day: dayText(TODAY - back),
    ...more,
  }));

const isOf =
  (subject: string) =>
  (each: MadeUpJob): boolean =>
    subject === 'instance' ||
    (each.groupId !== undefined &&
      (DIRECTORY.chainById.get(each.groupId) ?? []).some(({ id }) => subject === `group/${id}`));

const microsOf = (jobs: readonly MadeUpJob[]): number =>
  jobs.reduce((sum, { rejected, micros }) => sum + (rejected ? 0 : micros), 0);

test('rows and other are the total, and the total is the jobs of the period and of the one before', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(job, { maxLength: 25 }),
      fc.array(job, { maxLength: 5 }),
      fc.record({
        from: fc.integer({ min: 0, max: BACK_MAX }),
        days: fc.oneof(fc.integer({ min: 1, max: 92 }), fc.integer({ min: 1, max: 400 })),
        by: fc.constantFrom(...SPEND_KEYS),
        group: fc.constantFrom('instance', '100', '101', '104', '200'),
        top: fc.integer({ min: 1, max: 3 }),
      }),
      fc.boolean(),
      async (early, late, { from, days, by, group, top }, packs) => {
        const books = spendBooks({ packs, partBytes: 40 });
        for (const each of early) await books.commit(each);
        // A day of runs: every month has had its turn.
        for (let run = 0; packs && run < 30; run += 1) {
          await books.pack();
          books.clock.advance(3_600_000);
        }
        for (const each of late) await books.commit(each);
        books.clock.advance(86_400_000);
        for (let run = 0; packs && run < 30; run += 1) {
          await books.pack();
          books.clock.advance(3_600_000);
        }
        const first = TODAY - from;
        const asked = { from: dayText(first), to: dayText(first + days - 1), by, group, top };
        const answer = await books.read.spend(asked, USERS.finance);
        if (answer.outcome !== 'reported') {
          expect(answer).toMatchObject({ outcome: 'unreadable', asked: 'by' });
          return;
        }
        const { report } = answer;
        const within = (span: { readonly fromDay: string; readonly toDay: string } | undefined) =>
          [...early, ...late]
            .filter(isOf(group === 'instance' ? group : `group/${group}`))
            .filter(({ day }) => span !== undefined && day >= span.fromDay && day <= span.toDay);
        const jobs = within(report);
        expect(report.total.micros).toBe(microsOf(jobs));
        expect(report.total.before?.micros).toBe(report.before && microsOf(within(report.before)));
        expect(report.total.jobs).toBe(jobs.length);
        expect(report.total.rejected).toBe(jobs.filter(({ rejected }) => rejected).length);
        expect(report.total.overEstimate).toBe(
          jobs.filter(({ rejected, bucket }) => !rejected && bucket !== undefined && bucket !== 'q10').length,
        );
        const figures = [
          'micros',
          'jobs',
          'rejected',
          'estimated',
          'bypass',
        ] as const satisfies (keyof SpendFigures)[];
        for (const figure of figures)
          expect(report.rows.reduce((sum, row) => sum + row[figure], report.other[figure])).toBe(
            report.total[figure],
          );
        expect(
          report.rows.reduce((sum, row) => sum + (row.before?.micros ?? 0), report.other.before?.micros ?? 0),
        ).toBe(report.total.before?.micros ?? 0);
        if (report.rows.length > top) expect(['day', 'month']).toContain(by);

        const listed = await books.read.spendList(asked, USERS.finance);
        if (listed.outcome !== 'listed') throw new Error(listed.outcome);
        const { lines, total } = listed.list;
        expect(total.micros).toBe(microsOf(jobs));
        expect(lines.reduce((sum, line) => sum + line.micros, 0)).toBe(microsOf(jobs));
        if (report.before !== undefined)
          expect(lines.reduce((sum, line) => sum + line.beforeMicros, 0)).toBe(
            microsOf(within(report.before)),
          );
      },
    ),
    { numRuns: 60 },
  ));
