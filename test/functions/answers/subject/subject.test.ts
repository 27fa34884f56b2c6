import { expect, test } from 'vitest';
import { aJob, consoleHouse, LIMITS, USERS } from '../../console/house.ts';

async function live(policy: object = {}) {
  const house = consoleHouse({ policy });
  await house.apply(LIMITS);
  return house;
}

test('a group with its numbers: limits, chart, grants, rejections with reasons, history', async () => {
  const house = await live();
  await house.used('group/104', '2026-11-10', 1_000_000, 4);
  // 6.00 each, of 3.00: nothing fits.
  await house.ask([aJob(1, { runnerTags: ['large'] })]);
  const span = { from: '2026-11-20', until: '2026-11-30' };
  const grant = { kind: 'grant', subject: 'group/104', limit: 'money-month', amount: 1, ...span } as const;
  await house.apply([{ ...grant, reason: 'release', ticket: 'FIN-1' }]);
  const view = await house.read.subject('group/104', {}, USERS.finance);
  expect(view).toMatchObject({
    path: 'acme/payments/cards',
    above: [{ path: 'The whole GitLab' }, { path: 'acme' }, { path: 'acme/payments' }],
    burnUp: { limit: 'money-month', amount: 4_000_000 },
    grants: [{ amount: 1_000_000, state: 'in_force', ticket: 'FIN-1' }],
    usage: { jobs: 5, rejected: 1, rejections: { byRule: [{ rule: 'budgets', kind: 'budget', jobs: 1 }] } },
  });
  expect(view?.limits.map(({ id }) => id)).toEqual(['money-month', 'jobs-now']);
  const [rejected] = view?.usage.rejections.latest ?? [];
  expect(rejected).toMatchObject({
    jobId: 1,
    decisionId: 'd-1-1',
    url: 'https://gitlab.example.com/acme/payments/cards/api/-/jobs/1',
    reasons: [{ rule: 'budgets', code: 'EXCEEDS_LIMIT_ALONE' }],
  });
  expect(view?.history.entries.map(({ edit }) => edit)).toEqual([2, 1]);
});

test('the chart ends where the counter is, whatever the days have', async () => {
  const { read, counts, used } = await live();
  counts('group/101', 'money-month', '2026-11', 90_000_000);
  await used('group/101', '2026-11-02', 30_000_000);
  await used('group/101', '2026-11-20', 50_000_000);
  const { burnUp, usage } = (await read.subject('group/101', {}, USERS.finance)) ?? {};
  // The projects of the page and what no row shows come to the days.
  const listed = usage?.topProjects.reduce((sum, { micros }) => sum + micros, 0) ?? 0;
  expect(listed + (usage?.otherProjectsMicros ?? 0)).toBe(80_000_000);
  expect(burnUp?.days).toHaveLength(21);
  expect(burnUp?.days.find(({ day }) => day === '2026-11-02')).toMatchObject({
    used: 30_000_000,
    total: 30_000_000,
  });
  expect(burnUp?.days.at(-1)).toMatchObject({ day: '2026-11-21', total: 90_000_000 });
  expect(burnUp?.unexplained).toBe(10_000_000);
  expect(burnUp?.ahead.at(-1)?.day).toBe('2026-11-30');
  const ahead = burnUp?.ahead.map(({ total }) => total) ?? [];
  expect(ahead).toEqual(ahead.toSorted((a, b) => a - b));
});

test('a group lists the groups right below it with their month', async () => {
  const { read, used } = await live();
  await used('group/100', '2026-11-02', 100_000_000, 9);
  await used('group/101', '2026-11-02', 60_000_000, 5);
  await used('group/102', '2026-11-20', 15_000_000, 1);
  const view = await read.subject('group/100', {}, USERS.finance);
  expect(view?.children.map(({ path, metered }) => [path, metered.settledMicros])).toEqual([
    ['acme/payments', 60_000_000],
    ['acme/platform', 15_000_000],
  ]);
});

test('what is not theirs looks as if it were not there', async () => {
  const { read } = await live();
  const groups = ['group/100', 'group/200', 'group/999'];
  for (const subject of [...groups, 'project/2', 'instance', 'runner-class/large', 'nonsense'])
    expect(await read.subject(subject, {}, USERS.viewer), subject).toBeUndefined();
  for (const subject of ['group/101', 'group/104', 'project/1'])
    expect(await read.subject(subject, {}, USERS.viewer), subject).toBeDefined();
});

test('a limit is shown as far as it goes: by the rule of its kind and the rollout of its group', async () => {
  const house = await live({
    rules: [
      { id: 'budgets', kind: 'budget', mode: 'enforce' },
      { id: 'slots', kind: 'concurrency', mode: 'shadow' },
    ],
  });
  const { read } = house;
  const before = await read.subject('group/104', {}, USERS.finance);
  expect(before?.limits.map(({ id, rolledOutAs }) => [id, rolledOutAs])).toEqual([
    ['money-month', undefined],
    ['jobs-now', 'shadow'],
  ]);
  const { limitEdits } = house;
  const by = { actor: 'ada', rights: [{ role: 'admin' } as const], why: 'w', source: 'test' };
  const base = (await limitEdits.live())?.pointer.set;
  const edit = { kind: 'rollout', subject: 'group/101', cost: 'warn' } as const;
  await limitEdits.apply([edit], { ...by, base, confirmed: true });
  const after = await read.subject('group/104', {}, USERS.finance);
  expect(after?.limits[0]?.rolledOutAs).toBe('warn');
});
