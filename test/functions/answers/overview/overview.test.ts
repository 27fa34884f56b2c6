import { expect, test } from 'vitest';
import { consoleHouse, LIMITS, USERS } from '../../console/house.ts';

const paths = (rows: readonly { readonly path: string }[]): readonly string[] => rows.map(({ path }) => path);

async function live() {
  const house = consoleHouse();
  await house.apply(LIMITS);
  return house;
}

test('whoever runs out first is first: used up, then soonest by the pace of four weeks, then who has no budget', async () => {
  const { read, counts } = await live();
  counts('group/104', 'money-month', '2026-11', 3_000_000);
  counts('group/100', 'money-month', '2026-11', 800_000_000);
  counts('group/101', 'money-month', '2026-11', 100_000_000);
  counts('group/200', 'money-month', '2026-11', 50_000_000);
  const overview = await read.overview({}, USERS.finance);
  expect(paths(overview.rows)).toEqual([
    'acme/payments/cards',
    'acme',
    'beta',
    'acme/payments',
    'acme/platform',
    'beta/ops',
  ]);
  expect(overview.rows[0]?.budget).toMatchObject({ left: 0, percent: 100 });
  expect(overview).toMatchObject({ total: 6, first: 1 });
});

test('most spent first, with groups that have no budget', async () => {
  const { read, used } = await live();
  await used('group/101', '2026-11-03', 40_000_000);
  await used('group/102', '2026-11-03', 60_000_000);
  const { rows } = await read.overview({ sort: 'spent' }, USERS.finance);
  expect(paths(rows).slice(0, 2)).toEqual(['acme/platform', 'acme/payments']);
  expect(rows[0]?.metered).toMatchObject({ settledMicros: 60_000_000, sinceDay: '2026-11-01' });
});

test('pages neither repeat nor lose a group, and know the way back', async () => {
  const { read } = await live();
  const seen: string[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < 5; page += 1) {
    const asked = { sort: 'name', max: 2, ...(cursor !== undefined && { cursor }) } as const;
    const overview = await read.overview(asked, USERS.finance);
    seen.push(...paths(overview.rows));
    if (page > 0) expect(overview.previous).toBe(String((page - 1) * 2));
    cursor = overview.next;
    if (cursor === undefined) break;
  }
  expect(seen).toEqual(['acme', 'acme/payments', 'acme/payments/cards', 'acme/platform', 'beta', 'beta/ops']);
});

test('a viewer sees their subtree and nothing else, also not by asking for it', async () => {
  const { read } = await live();
  const own = await read.overview({}, USERS.viewer);
  expect(paths(own.rows).toSorted()).toEqual(['acme/payments', 'acme/payments/cards']);
  expect(own.instance).toBeUndefined();
  expect(own.rows.find(({ groupId }) => groupId === 101)?.parentId).toBeUndefined();
  for (const asked of [{ search: 'beta' }, { under: 200 }, { under: 100 }])
    expect((await read.overview(asked, USERS.viewer)).rows).toEqual([]);
  expect((await read.overview({}, USERS.none)).rows).toEqual([]);
});

test('a freeze from above is shown on all below it', async () => {
  const { read, apply } = await live();
  await apply([{ kind: 'freeze', subject: 'group/100', reason: 'audit' }]);
  const { rows } = await read.overview({}, USERS.finance);
  expect(rows.find(({ groupId }) => groupId === 104)?.frozen).toMatchObject({
    reason: 'audit',
    above: 'acme',
  });
});

/** 90 % of `acme`'s enforced budget, all of what only watches; the same of `beta` without an enforced one. */
async function watched() {
  const house = await live();
  const watchedOnly = { unit: 'money', amount: 10, per: 'month', mode: 'warn' } as const;
  await house.apply([
    { kind: 'set', subject: 'group/100', limit: 'watched', ...watchedOnly },
    { kind: 'set', subject: 'group/200', limit: 'money-month', mode: 'shadow' },
    { kind: 'set', subject: 'group/200', unit: 'minutes', amount: 10, per: 'month', mode: 'shadow' },
  ]);
  house.counts('group/100', 'money-month', '2026-11', 810_000_000);
  house.counts('group/100', 'watched', '2026-11', 810_000_000);
  house.counts('group/200', 'money-month', '2026-11', 100_000_000);
  for (let day = 1; day <= 20; day += 1)
    await house.used('group/100', `2026-11-${String(day).padStart(2, '0')}`, 40_500_000);
  return house;
}

test('a group is led by the limit that rejects its jobs, however much of one that only watches is used', async () => {
  const { read } = await watched();
  const { rows } = await read.overview({}, USERS.finance);
  expect(rows.find(({ groupId }) => groupId === 100)?.budget).toMatchObject({
    id: 'money-month',
    percent: 90,
  });
  const beta = rows.find(({ groupId }) => groupId === 200)?.budget;
  expect(beta).toMatchObject({ id: 'money-month', mode: 'shadow', left: 0 });
});

test('of two limits that reject the one that runs out first leads, minutes too; else money', async () => {
  const { read, counts, apply } = await live();
  await apply([{ kind: 'set', subject: 'group/101', unit: 'minutes', amount: 10, per: 'month' }]);
  const leader = async () =>
    (await read.overview({}, USERS.finance)).rows.find(({ groupId }) => groupId === 101)?.budget?.id;
  counts('group/101', 'minutes-month', '2026-11', 300);
  expect(await leader()).toBe('money-month');
  counts('group/101', 'minutes-month', '2026-11', 600);
  expect(await leader()).toBe('minutes-month');
});
