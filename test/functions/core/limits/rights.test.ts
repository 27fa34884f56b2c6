import { expect, test } from 'vitest';
import type { LimitEdit, Rights } from '../../../../functions/core/limits/edit-model.ts';
import { RIGHTS, ROLES } from '../../../../functions/core/limits/rights.ts';
import { ADMIN, aLiveDesk, FINANCE, ownerOf } from './desk.ts';

const set = (subject: string, amount: string | number): LimitEdit => ({
  kind: 'set',
  subject,
  limit: 'money-month',
  amount,
});
const jobs = (amount: number): LimitEdit => ({
  kind: 'set',
  subject: 'group/104',
  limit: 'jobs-now',
  amount,
});
const VIEWER: Rights = [{ role: 'viewer', groups: 'all' }];

test.each<[string, LimitEdit, { viewer: boolean; owner: boolean; finance: boolean; admin: boolean }]>([
  ['lower the own limit', set('group/101', 400), { viewer: false, owner: true, finance: true, admin: true }],
  ['raise the own limit', set('group/101', 600), { viewer: false, owner: false, finance: true, admin: true }],
  [
    'lift the own limit',
    set('group/101', 'unlimited'),
    { viewer: false, owner: false, finance: true, admin: true },
  ],
  [
    'remove the own limit',
    { kind: 'remove', subject: 'group/101', limit: 'money-month' },
    { viewer: false, owner: false, finance: true, admin: true },
  ],
  [
    'soften its mode',
    { kind: 'set', subject: 'group/101', limit: 'money-month', mode: 'shadow' },
    { viewer: false, owner: false, finance: true, admin: true },
  ],
  [
    'say who owns it',
    { kind: 'set', subject: 'group/101', limit: 'money-month', owner: 'x' },
    { viewer: false, owner: true, finance: true, admin: true },
  ],
  [
    'cap each pipeline of the own group',
    { kind: 'set', subject: 'group/101/each/pipeline', unit: 'money', per: 'once', amount: 5 },
    { viewer: false, owner: true, finance: true, admin: true },
  ],
  [
    'cap each pipeline of the parent',
    { kind: 'set', subject: 'group/100/each/pipeline', unit: 'money', per: 'once', amount: 5 },
    { viewer: false, owner: false, finance: true, admin: true },
  ],
  ['lower the parent', set('group/100', 800), { viewer: false, owner: false, finance: true, admin: true }],
  [
    'lower a sibling',
    { kind: 'set', subject: 'group/102', unit: 'jobs', amount: 1 },
    { viewer: false, owner: false, finance: true, admin: true },
  ],
  ['lower below the own group', jobs(5), { viewer: false, owner: true, finance: true, admin: true }],
  [
    'raise below it what nothing above holds',
    jobs(20),
    { viewer: false, owner: false, finance: true, admin: true },
  ],
  [
    'raise below it what the own limit holds',
    set('group/104', 90),
    { viewer: false, owner: true, finance: true, admin: true },
  ],
  [
    'give below it what the own limit holds',
    {
      kind: 'grant',
      subject: 'group/104',
      limit: 'money-month',
      amount: 5,
      from: '2026-11-01',
      until: '2026-11-30',
      reason: 'r',
    },
    { viewer: false, owner: true, finance: true, admin: true },
  ],
  [
    'give to the own group',
    {
      kind: 'grant',
      subject: 'group/101',
      limit: 'money-month',
      amount: 5,
      from: '2026-11-01',
      until: '2026-11-30',
      reason: 'r',
    },
    { viewer: false, owner: false, finance: true, admin: true },
  ],
  [
    'freeze the own group',
    { kind: 'freeze', subject: 'group/101', reason: 'r' },
    { viewer: false, owner: true, finance: true, admin: true },
  ],
  [
    'freeze everything',
    { kind: 'freeze', subject: 'instance', reason: 'r' },
    { viewer: false, owner: false, finance: true, admin: true },
  ],
  [
    'lift somebody else’s freeze',
    { kind: 'unfreeze', freeze: 'f-id1' },
    { viewer: false, owner: false, finance: true, admin: true },
  ],
  [
    'break glass',
    { kind: 'breakglass', subject: 'group/101', users: [5], jobs: 1, until: '2026-11-22', reason: 'r' },
    { viewer: false, owner: false, finance: true, admin: true },
  ],
  [
    'roll rules back',
    { kind: 'rollout', subject: 'group/101', cost: 'off' },
    { viewer: false, owner: false, finance: false, admin: true },
  ],
  [
    'limit runner classes',
    { kind: 'set', subject: 'runner-class/large', unit: 'jobs', amount: 3 },
    { viewer: false, owner: false, finance: true, admin: true },
  ],
  [
    'limit by pattern',
    { kind: 'set', subject: 'groups/acme/*', unit: 'jobs', amount: 3 },
    { viewer: false, owner: false, finance: true, admin: true },
  ],
])('who may %s', async (_, edit, may) => {
  const rights = { viewer: VIEWER, owner: ownerOf(101), finance: FINANCE, admin: ADMIN };
  for (const role of ROLES) {
    const { desk, by } = await aLiveDesk();
    await desk.apply(
      [
        { kind: 'set', subject: 'group/104', unit: 'money', amount: 80, per: 'month' },
        { kind: 'freeze', subject: 'group/101', reason: 'by finance', from: '2026-12-01' },
      ],
      await by({ actor: 'zoe' }),
    );
    const outcome = await desk.apply([edit], await by({ actor: 'ann', rights: rights[role] }));
    // What takes two people may still be asked for by whoever has the right.
    const mayAsk = outcome.outcome === 'live' || outcome.outcome === 'needs_approval';
    expect(`${role}: ${mayAsk ? 'may' : outcome.outcome}`).toBe(
      `${role}: ${may[role] ? 'may' : 'forbidden'}`,
    );
  }
});

test('who has no role may do nothing, and several roles add up', async () => {
  const { desk, by } = await aLiveDesk();
  expect((await desk.apply([set('group/101', 400)], await by({ rights: [] }))).outcome).toBe('forbidden');
  expect(
    (
      await desk.apply(
        [set('group/101', 400)],
        await by({ rights: [...VIEWER, ...ownerOf(7), ...ownerOf(100)] }),
      )
    ).outcome,
  ).toBe('live');
});

test('an owner lifts a freeze that was the owner’s own', async () => {
  const { desk, by } = await aLiveDesk();
  const rights = ownerOf(101);
  expect(
    (await desk.apply([{ kind: 'freeze', subject: 'group/101', reason: 'r' }], await by({ rights }))).outcome,
  ).toBe('live');
  const lift: LimitEdit = { kind: 'unfreeze', freeze: 'f-id1' };
  expect((await desk.apply([lift], await by({ rights, actor: 'ben' }))).outcome).toBe('forbidden');
  expect((await desk.apply([lift], await by({ rights }))).outcome).toBe('live');
});

test('without a directory nobody has a subtree', async () => {
  const { desk, by } = await aLiveDesk({ directory: async () => undefined });
  expect((await desk.apply([jobs(5)], await by({ rights: ownerOf(101) }))).outcome).toBe('forbidden');
});

test('an own limit that is larger than the default it replaces loosens', async () => {
  const { desk, by } = await aLiveDesk();
  await desk.apply(
    [{ kind: 'set', subject: 'groups/acme/*', unit: 'minutes', amount: 50, per: 'day' }],
    await by(),
  );
  const own = (amount: number | string): LimitEdit => ({
    kind: 'set',
    subject: 'group/101',
    unit: 'minutes',
    amount,
    per: 'day',
  });
  for (const amount of [51, 'unlimited'])
    expect((await desk.apply([own(amount)], await by({ rights: ownerOf(101) }))).outcome).toBe('forbidden');
  expect((await desk.apply([own(50)], await by({ rights: ownerOf(101) }))).outcome).toBe('live');
});

test('loosening never takes a weaker right than tightening', () => {
  const rank = { none: 0, below: 1, subtree: 2, all: 3 };
  for (const role of ROLES) {
    for (const [strong, weak] of [
      ['loosen', 'tighten'],
      ['grant', 'tighten'],
      ['break-glass', 'loosen'],
      ['roll-back', 'roll-out'],
    ] as const)
      expect(rank[RIGHTS[strong][role]]).toBeLessThanOrEqual(rank[RIGHTS[weak][role]]);
  }
});
