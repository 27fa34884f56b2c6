/** Random records of jobs, packed at night: by every key that tells jobs apart, what each row has is what its jobs have. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SpendQuery, SpendReport } from '../../../../functions/answers/report/model.ts';
import type { JobRecord } from '../../../../functions/core/ledger/ledger.ts';
import { JOB_KEYS } from '../../../../functions/core/sheets/sheet-store.ts';
import { costMicros } from '../../../../policies/price.ts';
import { someFacts } from '../../../support/ledger/asks.ts';
import { aRecord } from '../../../support/ledger/rollup-bench.ts';
import { spendBooks } from '../../../support/reports/spend-books.ts';
import { DIRECTORY, USERS } from '../../console/house.ts';

const HOUR_MS = 3_600_000;
/** On 25 October 2026 the clocks of Berlin show 02:00 twice. */
const CHANGE_MS = Date.UTC(2026, 9, 25);
const ZONE = 'Europe/Berlin';

const place = fc.constantFrom(
  { projectId: 1, groupId: 104, groupIds: [100, 101, 104] },
  { projectId: 2, groupId: 201, groupIds: [200, 201] },
  { projectId: 1, groupId: 104, rootId: 100 },
);
const asked = fc.record(
  {
    ref: fc.constantFrom('main', 'slow', 'refs/merge-requests/12/head'),
    pipelineSource: fc.constantFrom('push', 'schedule'),
    scheduleDigest: fc.constantFrom('aaaa', 'bbbb'),
    jobName: fc.constantFrom('unit', 'deploy'),
  },
  { requiredKeys: [] },
);
const job = fc.record({
  place,
  asked,
  runnerClass: fc.constantFrom('small', 'large', 'gone', ''),
  userId: fc.constantFrom(undefined, 7, 4711),
  ms: fc.integer({ min: -40 * HOUR_MS, max: 40 * HOUR_MS }),
  seconds: fc.option(fc.integer({ min: 0, max: 90_000 })),
  outcome: fc.constantFrom(undefined, 'success', 'failed', 'canceled'),
});

const recordOf = (
  {
    place: at,
    asked: said,
    runnerClass,
    ms,
    seconds,
    outcome,
    userId,
  }: typeof job extends fc.Arbitrary<infer T> ? T : never,
  index: number,
): JobRecord => {
  const decidedAtMs = CHANGE_MS + ms;
  const facts = someFacts({
    ...at,
    asked: said,
    runnerClass,
    ...(outcome !== undefined && { outcome }),
    ...(userId !== undefined && { userId }),
    costMicros: 700,
  });
  const record = aRecord({ jobId: index + 1, facts, decidedAtMs });
  if (seconds === null) return record;
  const { dueAtMs: _due, ...rest } = record;
  return {
    ...rest,
    state: 'SETTLED',
    rev: 2,
    durationSeconds: seconds,
    endedAtMs: decidedAtMs + seconds * 1000,
  };
};

const microsOf = ({ state, facts, durationSeconds = 0 }: JobRecord): number =>
  state === 'SETTLED' ? costMicros(facts.microsPerMinute, durationSeconds) : 0;

const WEEKDAY = new Intl.DateTimeFormat('en-GB', {
  ...{ timeZone: ZONE, weekday: 'short', hour: '2-digit', hourCycle: 'h23' },
});

/** What a row is called, made another way. */
const NAMES: Readonly<Record<(typeof JOB_KEYS)[number], (record: JobRecord) => string | undefined>> = {
  branch: ({ facts }) => facts.asked?.ref && `${pathOf(facts.projectId)}: ${facts.asked.ref}`,
  job: ({ facts }) => facts.asked?.jobName,
  source: ({ facts }) => facts.asked?.pipelineSource,
  outcome: ({ facts }) => facts.outcome,
  'merge-request': ({ facts }) =>
    facts.asked?.ref?.startsWith('refs/merge') ? `${pathOf(facts.projectId)}!12` : undefined,
  schedule: ({ facts: { asked: { pipelineSource, scheduleDigest, ref } = {}, projectId } }) => {
    if (pipelineSource !== 'schedule') return undefined;
    const words = [scheduleDigest === undefined ? 'schedules' : `schedule ${scheduleDigest}`];
    return `${pathOf(projectId)}: ${[...words, ...(ref === undefined ? [] : ['on', ref])].join(' ')}`;
  },
  user: ({ facts }) => (facts.userId === undefined ? undefined : `user ${facts.userId}`),
  hour: ({ decidedAtMs }) => {
    const parts = new Map(WEEKDAY.formatToParts(decidedAtMs).map(({ type, value }) => [type, value]));
    return `${parts.get('weekday')} ${parts.get('hour')}:00`;
  },
};

const pathOf = (projectId = 0): string => DIRECTORY.projectById.get(projectId)?.path ?? '';

test('rows by every key are their jobs, and with other they are the total', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(job, { maxLength: 30 }),
      fc.constantFrom('instance', '100', '200'),
      fc.boolean(),
      async (jobs, group, isMonth) => {
        const books = spendBooks({ zone: ZONE, partBytes: 60 });
        books.clock.advance(CHANGE_MS + 66 * HOUR_MS - books.clock.nowMs());
        const records = jobs.map(recordOf);
        await books.packRecords(records);
        // Saturday begins at 22:00 UTC of the day before; what is decided before is not packed.
        const days = isMonth ? { period: 'month' } : { from: '2026-10-24', to: '2026-10-26' };
        const from = isMonth ? '2026-10-01' : '2026-10-24';
        const of = records.filter(
          ({ facts, decidedAtMs }) =>
            (group === 'instance' || String(facts.groupIds?.[0] ?? facts.rootId) === group) &&
            dayOf(decidedAtMs) >= from,
        );
        const before = records.filter(({ decidedAtMs }) => dayOf(decidedAtMs) < '2026-10-24');
        for (const by of JOB_KEYS) {
          const report = await reportOf(books, { ...days, by, group });
          const { rows, other, total } = report;
          expect(total.jobs).toBe(of.length);
          for (const figure of ['micros', 'jobs', 'heldMicros', 'seconds'] as const)
            expect(rows.reduce((sum, row) => sum + row[figure], other[figure])).toBe(total[figure]);
          const packed = Map.groupBy(
            of.filter((record) => !before.includes(record)),
            NAMES[by],
          );
          packed.delete(undefined);
          expect(new Map(rows.map(({ name, micros, jobs: count }) => [name, [micros, count]]))).toEqual(
            new Map(
              [...packed].map(([name, some]) => [
                name,
                [some.reduce((sum, each) => sum + microsOf(each), 0), some.length],
              ]),
            ),
          );
        }
      },
    ),
    { numRuns: 40 },
  ));

const sumOf = (rows: readonly JobRecord[]) => [
  rows.reduce((sum, row) => sum + microsOf(row), 0),
  rows.length,
];
const DAYS = { from: '2026-10-24', to: '2026-10-26' };

test('classes of any group and project are their jobs, and of all top-level groups together those of the whole GitLab', () =>
  fc.assert(
    fc.asyncProperty(fc.array(job, { maxLength: 30 }), fc.boolean(), async (jobs, isMonth) => {
      const books = spendBooks({ zone: ZONE, partBytes: 60 });
      books.clock.advance(CHANGE_MS + 66 * HOUR_MS - books.clock.nowMs());
      const records = jobs.map(recordOf).filter(({ decidedAtMs }) => dayOf(decidedAtMs) >= DAYS.from);
      await books.packRecords(records);
      const classesOf = async (asked: { readonly group?: string; readonly project?: number }) => {
        const report = await reportOf(books, {
          ...(isMonth ? { period: 'month' } : DAYS),
          by: 'class',
          ...asked,
        });
        const { rows, other, total } = report;
        expect(rows.reduce((sum, row) => sum + row.micros, other.micros)).toBe(total.micros);
        expect(rows.reduce((sum, row) => sum + row.jobs, other.jobs)).toBe(total.jobs);
        return new Map(rows.map(({ name, micros, jobs: count }) => [name, [micros, count]]));
      };
      const told = (of: readonly JobRecord[]) =>
        new Map(
          [...Map.groupBy(of, ({ facts }) => facts.runnerClass)].map(([name, some]) => [name, sumOf(some)]),
        );
      for (const group of ['100', '104', '200', '201']) {
        const of = records.filter(({ facts: { groupIds, groupId, rootId } }) =>
          [...(groupIds ?? [rootId]), groupId].includes(Number(group)),
        );
        expect(await classesOf({ group })).toEqual(told(of));
      }
      for (const project of [1, 2])
        expect(await classesOf({ project })).toEqual(
          told(records.filter(({ facts }) => facts.projectId === project)),
        );
      const [acme, beta, all] = [
        await classesOf({ group: '100' }),
        await classesOf({ group: '200' }),
        await classesOf({ group: 'instance' }),
      ];
      for (const name of ['small', 'large', ''])
        expect([0, 1].map((at) => (acme.get(name)?.[at] ?? 0) + (beta.get(name)?.[at] ?? 0))).toEqual(
          all.get(name) ?? [0, 0],
        );
    }),
    { numRuns: 40 },
  ));

const dayOf = (atMs: number): string => new Intl.DateTimeFormat('en-CA', { timeZone: ZONE }).format(atMs);

async function reportOf({ read }: ReturnType<typeof spendBooks>, asked: SpendQuery): Promise<SpendReport> {
  const answer = await read.spend({ ...asked, top: 1_000 }, USERS.finance);
  if (answer.outcome !== 'reported') throw new Error(JSON.stringify(answer));
  return answer.report;
}
