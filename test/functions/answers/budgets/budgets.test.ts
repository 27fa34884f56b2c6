import { expect, test } from 'vitest';
import type { BudgetsQuery } from '../../../../functions/answers/limits/models.ts';
import { refusingText } from '../../../../functions/answers/status/texts.ts';
import { aJob, consoleHouse, LIMITS, USERS } from '../../console/house.ts';

const PERIOD = '2026-11';
const RULES = ['budget', 'concurrency', 'window'].map((kind) => ({ id: kind, kind, mode: 'enforce' }));

async function live(packed: object = {}) {
  const house = consoleHouse({
    policy: { rules: RULES },
    packed: { personal_default: [{ jobs: 8 }], ...packed },
  });
  await house.apply(LIMITS);
  house.counts('group/100', 'money-month', PERIOD, 450_000_000);
  house.counts('group/101', 'money-month', PERIOD, 499_999_999);
  house.counts('group/104', 'money-month', PERIOD, 3_000_000);
  const of = async (asked: BudgetsQuery, who: keyof typeof USERS = 'finance') =>
    (
      await house.read.budgets(
        { ...(asked.holding === undefined && { sort: 'fullest' }), ...asked },
        USERS[who],
      )
    ).rows.map(({ subject, id }) => `${subject} ${id}`);
  return { ...house, of };
}

test('a personal namespace has its default limits where it is asked for, and does not fill the list of all', async () => {
  const { of } = await live();
  expect(await of({})).not.toContain('group/190 jobs-now');
  expect(await of({ below: 'group/190' })).toEqual(['group/190 jobs-now']);
});

test('what holds for a project is its groups’ and the instance’s, the closest first', async () => {
  const { of } = await live();
  expect(await of({ holding: 'project/1' })).toEqual([
    'group/104 money-month',
    'group/104 jobs-now',
    'group/101 money-month',
    'group/100 money-month',
  ]);
});

test('limits below the instance are all that the caller sees', async () => {
  const { of } = await everyKind();
  for (const who of ['finance', 'viewer', 'none'] as const)
    expect(await of({ below: 'instance' }, who)).toEqual(await of({}, who));
  expect(await of({ below: 'instance' })).toContain('runner/41 money-month');
});

test('nobody is told of what is not theirs', async () => {
  const { of } = await live();
  expect(await of({}, 'viewer')).toEqual([
    'group/104 money-month',
    'group/101 money-month',
    'group/104 jobs-now',
  ]);
  expect(await of({ holding: 'group/200' }, 'viewer')).toEqual([]);
  expect(await of({}, 'none')).toEqual([]);
});

test('starts of a day run out like money, those of an hour come and go', async () => {
  const { apply, read, usage } = await live();
  await apply([
    { kind: 'set', subject: 'group/200', unit: 'starts', amount: 30, per: 'month' },
    { kind: 'set', subject: 'group/200', unit: 'starts', amount: 5, per: 'hour' },
  ]);
  const delta = new Map([['admitted', 10]]);
  for (const day of ['2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20'])
    await usage.commit({ contributions: [], usage: [{ key: { subject: 'group/200', day }, delta }] });
  const { rows } = await read.budgets({ below: 'group/200' }, USERS.finance);
  expect(rows.map(({ id, canRunOut, forecast }) => [id, canRunOut, forecast?.outcome])).toEqual([
    ['starts-month', true, 'runs_out'],
    ['money-month', true, undefined],
    ['starts-hour', false, undefined],
  ]);
});

const budget = { kind: 'set', unit: 'money', amount: 100, per: 'month' } as const;

/** The limits of everybody else: a project, a class, a runner, a user, each pipeline of acme. */
async function everyKind() {
  const house = await live();
  await house.apply([
    { ...budget, subject: 'project/1', owner: 'cards-leads' },
    { ...budget, subject: 'runner-class/small', unit: 'minutes' },
    { ...budget, subject: 'runner/41' },
    { ...budget, subject: 'user/5' },
    { ...budget, subject: 'group/100/each/pipeline', per: 'once' },
    { kind: 'set', subject: 'runner-class/small', unit: 'jobs', amount: 4 },
  ]);
  return house;
}

test('what is used up leads, then what runs out soonest, then who has used most; caps come last', async () => {
  const { read, counts, used } = await everyKind();
  for (let day = 1; day <= 20; day += 1) {
    await used('group/101', `${PERIOD}-${String(day).padStart(2, '0')}`, 25_000_000);
    await used('group/200', `${PERIOD}-${String(day).padStart(2, '0')}`, 4_500_000);
  }
  counts('group/200', 'money-month', PERIOD, 90_000_000);
  counts('project/1', 'money-month', PERIOD, 30_000_000);
  counts('runner-class/small', 'jobs-now', 'now', 4);
  const budgets = await read.budgets({ sort: 'risk', caps: true }, USERS.finance);
  expect(budgets.rows.map(({ subject, id }) => `${subject} ${id}`).slice(0, 6)).toEqual([
    'group/104 money-month',
    // Full until the next job ends.
    'runner-class/small jobs-now',
    'group/101 money-month',
    'group/200 money-month',
    'group/100 money-month',
    'project/1 money-month',
  ]);
  expect(budgets.rows.at(-1)).toMatchObject({ each: 'pipeline', path: 'acme: each pipeline' });
  expect(budgets).toMatchObject({ usedUp: 2, runsOut: 2, first: 1 });
  const of = async (asked: BudgetsQuery) => (await read.budgets(asked, USERS.finance)).total;
  expect(await of({ risk: 'used-up' })).toBe(2);
  expect(await of({ risk: 'runs-out' })).toBe(4);
});

test('whose it is, what it counts and what it is called choose limits, and each alone', async () => {
  const { of, read } = await everyKind();
  expect(await of({ kind: 'project' })).toEqual(['project/1 money-month']);
  expect(await of({ kind: 'runner' })).toEqual(['runner/41 money-month']);
  expect(await of({ kind: 'cap' })).toEqual(['group/100/each/pipeline money-once']);
  expect(await of({ unit: 'jobs', sort: 'name' })).toEqual([
    'group/104 jobs-now',
    'runner-class/small jobs-now',
  ]);
  expect(await of({ unit: 'minutes' })).toEqual(['runner-class/small minutes-month']);
  expect(await of({ search: 'PAYMENTS-leads' })).toEqual(['group/101 money-month']);
  expect(await of({ search: 'cards/api' })).toEqual(['project/1 money-month']);
  expect(await of({ search: 'jane' })).toEqual(['group/190 jobs-now']);
  expect(await of({ search: 'jobs-now', kind: 'group', sort: 'name' })).toEqual([
    'group/104 jobs-now',
    'group/190 jobs-now',
  ]);
  for (const asked of [{ kind: 'user' }, { kind: 'runner-class' }, { search: 'beta' }] as const)
    expect((await read.budgets({ ...asked, sort: 'risk', caps: true }, USERS.viewer)).rows).toEqual([]);
  const theirs = await read.budgets({ sort: 'risk', caps: true }, USERS.viewer);
  expect(theirs).toMatchObject({ total: 4, usedUp: 1 });
});

test('a limit is counted, chosen and shown by one forecast', async () => {
  const { read, counts, used } = await live();
  // Much in the month before and at the beginning of this one, and little since: the mean would say that it runs out.
  counts('group/200', 'money-month', '2026-10', 100_000_000);
  counts('group/200', 'money-month', PERIOD, 80_000_000);
  for (let day = 10; day <= 20; day += 1) await used('group/200', `${PERIOD}-${day}`, 100_000);
  // As much every day, and more than is left.
  for (let day = 1; day <= 20; day += 1)
    await used('group/100', `${PERIOD}-${String(day).padStart(2, '0')}`, 50_000_000);
  const all = await read.budgets({}, USERS.finance);
  const outcomes = new Map(
    all.rows.map(({ subject, id, forecast }) => [`${subject} ${id}`, forecast?.outcome]),
  );
  expect([outcomes.get('group/200 money-month'), outcomes.get('group/100 money-month')]).toEqual([
    'lasts',
    'runs_out',
  ]);
  const atRisk = await read.budgets({ risk: 'runs-out' }, USERS.finance);
  expect(atRisk.rows.filter(({ forecast }) => forecast?.outcome === 'lasts')).toEqual([]);
  expect(atRisk.total).toBe(
    all.rows.filter(({ forecast }) => forecast?.outcome === 'runs_out' || forecast?.outcome === 'used_up')
      .length,
  );
  expect([all.usedUp, all.runsOut]).toEqual([1, 1]);
  expect(all.rows.slice(0, 2).map(({ subject }) => subject)).toEqual(['group/104', 'group/100']);
});

test('a budget that refuses jobs says since when, and leads the list', async () => {
  const house = consoleHouse();
  await house.apply(LIMITS);
  await house.apply([{ kind: 'set', subject: 'group/104', limit: 'money-month', amount: 2.5 }]);
  // Two jobs of 1.00 fit into 2.50; the others do not, and 0.50 is left.
  for (let job = 1; job <= 6; job += 1) {
    await house.ask([aJob(job)]);
    house.clock.advance(10 * 60_000);
    await house.roll();
  }
  for (let day = 1; day <= 20; day += 1)
    await house.used('group/104', `${PERIOD}-${String(day).padStart(2, '0')}`, 1_000);
  house.counts('group/200', 'money-month', PERIOD, 100_000_000);
  const shown = await house.read.budgets({}, USERS.finance);
  expect(shown).toMatchObject({ refusing: 1 });
  const [first] = shown.rows;
  expect(first).toMatchObject({
    subject: 'group/104',
    id: 'money-month',
    left: 500_000,
    refusing: { jobs: 4 },
  });
  expect(refusingText(first ?? { zone: 'UTC' }, house.clock.nowMs())).toBe('Refusing jobs since 12:20');
  expect((await house.read.budgets({ risk: 'runs-out' }, USERS.finance)).rows[0]?.subject).toBe('group/104');
  const { rows } = await house.read.overview({}, USERS.finance);
  expect(rows[0]).toMatchObject({ subject: 'group/104', budget: { refusing: { jobs: 4 } } });
  // An hour without a refusal, and it is a budget like any other.
  house.clock.advance(61 * 60_000);
  expect(await house.read.budgets({}, USERS.finance)).toMatchObject({ refusing: 0 });
});
