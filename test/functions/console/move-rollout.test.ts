import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createConsoleRead } from '../../../functions/answers/create-console-read.ts';
import type { RolloutRow, RolloutView } from '../../../functions/answers/rollout/model.ts';
import { planMoves, type RolloutMove } from '../../../functions/answers/rollout/rollout-moves.ts';
import { moveRollout, reportRollout } from '../../../functions/console/move-rollout.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import type { Mode } from '../../../policies/mode.ts';
import { compareModes } from '../../../policies/rollout.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { aJob, consoleHouse, LIMITS, USERS } from './house.ts';

type House = ReturnType<typeof consoleHouse>;

/** The whole instance watches; acme/payments/cards has its limits. */
async function watching(): Promise<House> {
  const house = consoleHouse();
  await house.apply(LIMITS);
  await step(house, ['instance'], { direction: 'back', to: 'shadow' });
  return house;
}

async function step(
  house: House,
  subjects: readonly string[] | 'all',
  move: RolloutMove,
  user = USERS.admin,
) {
  const base = (await house.limitEdits.live())?.pointer.set;
  const moving = await moveRollout(house, move, subjects, user, { why: 'because', source: 'test', base });
  if (moving.outcome !== 'planned') throw new Error(JSON.stringify(moving));
  return moving;
}

const on = (force = false) => ({ direction: 'next', force }) as const;
const tell = (house: House, subjects: readonly string[], informed = true) =>
  reportRollout(house, subjects, USERS.admin, { why: 'report', source: 'test', informed });

async function stepsOf(house: House, subject: string): Promise<string> {
  const { rows } = await house.read.rollout({ subjects: [subject] }, USERS.admin);
  return (rows[0]?.classes ?? []).map((each) => each.step).join(' ');
}

/** A week in which somebody has so many jobs a day. */
async function aWeek(house: House, subject: string, jobs = 10): Promise<void> {
  for (let day = 0; day < 7; day += 1) {
    const text = new Date(house.clock.nowMs()).toISOString().slice(0, 10);
    await house.used(subject, text, 1_000_000, jobs);
    house.clock.advance(DAY_MS);
  }
}

test('the whole way of one group: it waits for days, the report and an answer, and every step is in the log', async () => {
  const house = await watching();
  expect(await stepsOf(house, 'group/101')).toBe('shadow shadow');
  const early = await step(house, ['group/101'], on());
  expect(early.applied).toBeUndefined();
  expect(early.held.map(({ subject }) => subject)).toEqual(['group/101']);

  await aWeek(house, 'group/101');
  await tell(house, ['group/101']);
  expect(await stepsOf(house, 'group/101')).toBe('reported reported');
  expect((await step(house, ['group/101'], on())).applied).toBeUndefined();
  house.clock.advance(2 * DAY_MS);
  expect((await step(house, ['group/101'], on())).applied?.outcome).toBe('live');
  expect(await stepsOf(house, 'group/101')).toBe('warn warn');
  await aWeek(house, 'group/101');
  expect((await step(house, ['group/101'], on())).applied?.outcome).toBe('live');
  expect(await stepsOf(house, 'group/101')).toBe('enforce enforce');
  // What is below follows, what is beside does not.
  expect(await stepsOf(house, 'group/104')).toBe('enforce enforce');
  expect(await stepsOf(house, 'group/102')).toBe('shadow shadow');
  const { entries } = await house.limitEdits.history({ subject: 'group/101', max: 10 });
  expect(entries.slice(0, 3).map(({ rows }) => rows?.map(({ field, to }) => `${field} ${to}`))).toEqual([
    ['mode enforce', 'mode enforce'],
    ['mode warn', 'mode warn'],
    ['sent 2026-11-28T12:00:00.000Z'],
  ]);

  await step(house, ['group/101'], { direction: 'back' });
  expect(await stepsOf(house, 'group/101')).toBe('warn warn');
  await step(house, ['group/101'], { direction: 'back', to: 'off' });
  expect(await stepsOf(house, 'group/101')).toBe('off off');
});

test('all groups and the instance move in one run: a group that moves no longer follows the instance', () => {
  const row = (subject: string, has: number, ...paths: string[]): RolloutRow => ({
    ...{ subject, path: paths[0] ?? subject, owner: 'anna' },
    classes: (['cost', 'capacity'] as const).map((name) => ({
      ...{ class: name, step: 'shadow', mode: 'shadow', next: 'warn', from: 'instance' },
      ...{ days: 9, jobs: 9, wouldFail: 0 },
      needs: [{ code: 'groups', met: has === 0, has, wants: 0 }],
    })),
  });
  const movedOf = (followers: number): readonly string[] => {
    const { moved } = planMoves([row('instance', followers), row('group/101', 0, 'acme')], on());
    return [...new Set(moved.map(({ subject }) => subject))];
  };
  expect(movedOf(1)).toEqual(['instance', 'group/101']);
  expect(movedOf(2)).toEqual(['group/101']);
});

test('too many jobs that would have failed, and runners that bypass, hold a group back', async () => {
  const house = await watching();
  await tell(house, ['group/101']);
  await step(house, ['group/101'], on(true));
  await house.apply([{ kind: 'set', subject: 'group/101', limit: 'money-month', amount: 0 }]);
  await house.ask([aJob(1), aJob(2)]);
  await aWeek(house, 'group/101');
  const delta = new Map([
    ['jobs', 20],
    ['bypass', 20],
    ['ran', 20],
    ['unasked', 20],
  ]);
  await house.usage.commit({
    contributions: [],
    usage: [{ key: { subject: 'group/101', day: '2026-11-22' }, delta }],
  });
  const { rows } = await house.read.rollout({ subjects: ['group/101'] }, USERS.admin);
  const [cost] = rows[0]?.classes ?? [];
  expect(cost?.needs).toEqual([
    { code: 'days', met: true, has: 7, wants: 7 },
    { code: 'report', met: true, has: 7, wants: 2 },
    { code: 'coverage', met: false, has: 77.7, wants: 95 },
    { code: 'would-fail', met: true, has: 2.2, wants: 5 },
  ]);
  const forecast = await house.read.rolloutForecast(['group/101'], USERS.admin);
  expect(forecast).toMatchObject({ outcome: 'counted' });
});

test('if enforced now: the jobs of the last days that would have failed, by rule and group, with their pages', async () => {
  const house = await watching();
  await house.apply([{ kind: 'set', subject: 'group/104', limit: 'money-month', amount: '0.30' }]);
  await house.ask([aJob(1, { timeoutSeconds: 120 }), aJob(2, { timeoutSeconds: 120 })]);
  const deps = { ...house.deps, recentJobIds: async () => [2] };
  const read = createConsoleRead(deps);
  house.clock.advance(1_000);
  expect(await read.rolloutForecast(['group/101'], USERS.admin)).toMatchObject({
    outcome: 'counted',
    jobs: 2,
    wouldFail: 1,
    rows: [
      {
        group: 'group/104',
        path: 'acme/payments/cards',
        rule: 'budgets',
        limit: 'group/104 money-month',
        limitLabel: 'acme/payments/cards money-month',
        code: 'BUDGET_EXHAUSTED',
        jobs: 1,
        examples: [{ jobId: 2, url: 'https://gitlab.example.com/acme/payments/cards/api/-/jobs/2' }],
      },
    ],
  });
  expect(await read.rolloutForecast(['group/102'], USERS.admin)).toMatchObject({
    jobs: 0,
    wouldFail: 0,
    rows: [],
  });
});

test('all go together: who is ready moves, who is not is named, and the instance waits for the groups that follow it', async () => {
  const house = await watching();
  for (const subject of ['group/100', 'instance']) await house.used(subject, '2026-11-21', 1, 10);
  for (let day = 22; day < 28; day += 1)
    for (const subject of ['group/100', 'instance']) await house.used(subject, `2026-11-${day}`, 1, 10);
  await tell(house, ['instance', 'group/100', 'group/200']);
  house.clock.advance(8 * DAY_MS);
  const all = { direction: 'next', force: false, all: true } as const;
  const first = await step(house, 'all', all);
  expect(first.moved.map(({ subject, to }) => `${subject} ${to}`)).toEqual([
    'group/100 warn',
    'group/100 warn',
  ]);
  expect(first.held.map(({ subject }) => subject)).toEqual(['instance', 'group/200']);
  const forced = await step(house, 'all', { ...all, force: true });
  expect(forced.moved.map(({ subject, to }) => `${subject} ${to}`)).toEqual(
    ['instance warn', 'group/100 enforce', 'group/200 warn'].flatMap((each) => [each, each]),
  );
  const [entry] = (await house.limitEdits.history({ max: 1 })).entries;
  expect(entry?.why).toMatch(/^because \(forced: .*0 of 7 days with jobs on this step/);
  // Somebody who was taken out of the rollout is not taken back in with all others.
  await step(house, ['project/2'], { direction: 'back', to: 'off' });
  await step(house, 'all', { ...all, force: true });
  expect(await stepsOf(house, 'project/2')).toBe('off off');
  await step(house, ['project/2'], on());
  expect(await stepsOf(house, 'project/2')).toBe('shadow shadow');
});

test('a report goes to the owner the limits name; where nobody can be told nothing is written down', async () => {
  const house = await watching();
  const unsent = await tell(house, ['group/101'], false);
  expect(unsent).toMatchObject({
    view: { reports: [{ outcome: 'no-topic', owner: 'payments-leads', path: 'acme/payments' }] },
    applied: undefined,
  });
  expect(await stepsOf(house, 'group/101')).toBe('shadow shadow');
  const told: string[] = [];
  const deps = {
    ...house,
    origin: 'https://budget.example.com',
    notifyOwner: async ({ owner = '', text }: { owner?: string; text: string }) => {
      told.push(`${owner}: ${text.split('\n').at(-1)}`);
      return 'sent' as const;
    },
  };
  const asked = { why: 'report', source: 'test', informed: false };
  const sent = await reportRollout(deps, ['group/101', 'instance'], USERS.finance, asked);
  expect(told).toEqual([
    'payments-leads: https://budget.example.com/groups/101',
    'finance: https://budget.example.com/instance',
  ]);
  expect(sent).toMatchObject({ outcome: 'reported', applied: { outcome: 'live' } });
  expect(await stepsOf(house, 'group/101')).toBe('reported reported');
  expect(await stepsOf(house, 'group/102')).toBe('reported reported');
});

test('finance rolls out and only an administrator takes it back; whoever was first has the set', async () => {
  const house = await watching();
  expect((await step(house, ['group/101'], on(true), USERS.finance)).applied?.outcome).toBe('live');
  const back = await step(house, ['group/101'], { direction: 'back' }, USERS.finance);
  expect(back.applied?.outcome).toBe('forbidden');
  const by = { why: 'because', source: 'test', base: 'another' };
  const late = await moveRollout(house, { direction: 'back' }, ['group/101'], USERS.admin, by);
  expect(late).toMatchObject({ applied: { outcome: 'stale' } });
});

const SUBJECTS = ['instance', 'group/100', 'group/101', 'group/104', 'project/1'];
const someSubjects = fc.subarray(SUBJECTS, { minLength: 1, maxLength: 3 });
const only = fc.constantFrom({}, { only: 'cost' as const }, { only: 'capacity' as const });
const anyDeed = fc.oneof(
  fc
    .record({ subjects: someSubjects, force: fc.boolean(), only })
    .map(({ subjects, force, only: which }) => ({
      subjects,
      move: { direction: 'next', force, ...which } as const,
    })),
  fc
    .record({
      subjects: someSubjects,
      to: fc.constantFrom<Mode | undefined>(undefined, 'off', 'shadow', 'warn'),
      only,
    })
    .map(({ subjects, to, only: which }) => ({
      subjects,
      move: { direction: 'back', ...which, ...(to !== undefined && { to }) } as const,
    })),
  fc.record({ subjects: fc.subarray(SUBJECTS.slice(0, 4), { minLength: 1 }) }),
);

test('whatever is done: nobody enforces without an entry in the log, back goes never further, and on skips nothing by itself', async () => {
  const modesOf = ({ rows }: RolloutView): readonly Mode[] =>
    rows.flatMap(({ classes }) => classes.map(({ mode }) => mode));
  await fc.assert(
    fc.asyncProperty(fc.array(anyDeed, { minLength: 1, maxLength: 8 }), async (deeds) => {
      const house = await watching();
      const look = () => house.read.rollout({ subjects: SUBJECTS }, USERS.admin);
      for (const deed of deeds) {
        const before = modesOf(await look());
        house.clock.advance(DAY_MS);
        if (!('move' in deed)) {
          await tell(house, deed.subjects);
          expect(modesOf(await look())).toEqual(before);
          continue;
        }
        const { moved, applied } = await step(house, deed.subjects, deed.move);
        expect([undefined, 'live', 'unchanged']).toContain(applied?.outcome);
        const after = modesOf(await look());
        if (deed.move.direction === 'back')
          for (const [index, mode] of after.entries())
            expect(compareModes(mode, before[index] ?? 'off')).toBeLessThanOrEqual(0);
        else if (!deed.move.force) expect(moved.flatMap(({ unmet }) => unmet)).toEqual([]);
        const { entries } = await house.limitEdits.history({ max: 100 });
        const logged = new Set(
          entries.flatMap(({ rows = [] }) =>
            rows.flatMap(({ about, subject, limit, to }) =>
              about === 'rollout' && to === 'enforce' ? [`${subject} ${limit}`] : [],
            ),
          ),
        );
        for (const { classes } of (await look()).rows)
          for (const { class: ruleClass, mode, from } of classes)
            if (mode === 'enforce') expect(logged).toContain(`${from} ${ruleClass}`);
      }
    }),
    { numRuns: propertyRuns(50) },
  );
});
