import { expect, test } from 'vitest';
import type { LimitEdit } from '../../../../functions/core/limits/edit-model.ts';
import { aPolicy } from '../../../policies/documents.ts';
import { ADMIN, aDesk, aLiveDesk, FINANCE } from './desk.ts';

const money = (amount: string | number, subject = 'group/101'): LimitEdit => ({
  kind: 'set',
  subject,
  limit: 'money-month',
  amount,
});

test.each<[string, LimitEdit, (string | number)[]]>([
  ['no such subject', money(1, 'grupp/101'), ['edits', 0, 'subject']],
  ['no number', money('5OO'), ['edits', 0, 'amount']],
  [
    'a new limit without a number',
    { kind: 'set', subject: 'group/102', unit: 'money', per: 'month' },
    ['edits', 0, 'amount'],
  ],
  [
    'a limit that is not there',
    { kind: 'remove', subject: 'group/101', limit: 'jobs-now' },
    ['edits', 0, 'limit'],
  ],
  [
    'a grant on nothing',
    {
      kind: 'grant',
      subject: 'group/102',
      limit: 'money-month',
      amount: 1,
      from: '2026-11-01',
      until: '2026-11-30',
      reason: 'r',
    },
    ['edits', 0, 'limit'],
  ],
  [
    'a break-glass for everybody',
    { kind: 'breakglass', subject: 'group/101', jobs: 5, until: '2026-11-22', reason: 'r' },
    ['edits', 0],
  ],
  [
    'a break-glass for a month',
    { kind: 'breakglass', subject: 'group/101', jobs: 5, users: [5], until: '2026-12-22', reason: 'r' },
    ['edits', 0, 'until'],
  ],
  ['no document', { kind: 'replace', document: 'limits: []' }, ['edits', 0, 'document']],
])('refused at its field: %s', async (_, edit, path) => {
  const { limitEdits, by } = await aLiveDesk();
  expect(await limitEdits.apply([edit], await by())).toMatchObject({
    outcome: 'invalid',
    problems: [{ path }],
  });
});

test('more than three times as much asks again, and so do 0 and unlimited; a smaller step does not', async () => {
  const { limitEdits, by } = await aLiveDesk();
  for (const amount of [1_501, 166, 0, 'unlimited'])
    expect(await limitEdits.apply([money(amount)], await by({ confirmed: false }))).toMatchObject({
      outcome: 'needs_confirmation',
      rows: [{ subject: 'group/101', field: 'amount' }],
    });
  for (const [amount, outcome] of [
    [1_500, 'needs_approval'],
    [750, 'live'],
  ] as const)
    expect(await limitEdits.apply([money(amount)], await by({ confirmed: false }))).toMatchObject({
      outcome,
    });
});

test('a mode that becomes milder asks again, of a limit and of a rollout; and a limit that only watched goes without', async () => {
  const { limitEdits, by } = await aLiveDesk();
  const limit = (mode: 'shadow' | 'enforce'): LimitEdit => ({
    kind: 'set',
    subject: 'group/101',
    limit: 'money-month',
    mode,
  });
  const rollout: LimitEdit = { kind: 'rollout', subject: 'group/101', cost: 'warn', capacity: null };
  for (const edit of [limit('shadow'), rollout])
    expect(await limitEdits.apply([edit], await by({ rights: ADMIN, confirmed: false }))).toMatchObject({
      outcome: 'needs_confirmation',
      rows: [{ subject: 'group/101', field: 'mode', effect: 'loosens' }],
    });
  const asked = await limitEdits.apply([limit('shadow')], await by({ confirmed: true }));
  if (asked.outcome !== 'needs_approval' || asked.request === undefined) throw new Error(asked.outcome);
  await limitEdits.decide(asked.request.id, { decision: 'approve' }, { actor: 'zoe', rights: FINANCE });
  for (const edit of [
    { kind: 'set', subject: 'group/101', limit: 'money-month', soft: '80%' } as const,
    { kind: 'remove', subject: 'group/101', limit: 'money-month' } as const,
  ])
    expect(await limitEdits.apply([edit], await by({ confirmed: false }))).toMatchObject({ outcome: 'live' });
});

test('a limit that would reject those who run the controller asks again', async () => {
  const platform = { groups: [102], projects: [], job: {} };
  const policy = aPolicy({
    platform,
    rules: [{ id: 'budgets', kind: 'budget', mode: 'enforce', binds_platform: true }],
  });
  const { limitEdits, by } = aDesk({ policy });
  const edit: LimitEdit = { kind: 'set', subject: 'group/102', unit: 'money', amount: 0, per: 'month' };
  expect(await limitEdits.apply([edit], await by({ confirmed: false }))).toMatchObject({
    outcome: 'needs_confirmation',
    lockout: [expect.stringContaining('acme/platform')],
  });
});

test('an import cannot write that somebody approved what nobody approved', async () => {
  const { limitEdits, by } = await aLiveDesk();
  const live = await limitEdits.live();
  const grants = [
    {
      on: { group: 101 },
      limit: 'money-month',
      amount: 5,
      from: '2026-11-01',
      until: '2026-11-30',
      reason: 'r',
    },
  ];
  const imported = (more: object): LimitEdit => ({
    kind: 'replace',
    document: { ...live?.document, grants: grants.map((each) => ({ ...each, ...more })) },
  });
  for (const more of [{ approved_by: 'ann' }, { approved_by: 'zoe' }, { by: 'zoe' }])
    expect(await limitEdits.apply([imported(more)], await by())).toMatchObject({ outcome: 'invalid' });
  expect(await limitEdits.apply([imported({ amount: 400 })], await by())).toMatchObject({
    outcome: 'needs_approval',
  });
  expect(
    await limitEdits.apply([imported({ approved_by: 'zoe' })], await by({ rights: ADMIN })),
  ).toMatchObject({
    outcome: 'live',
  });
});

test('a preview tells what an edit would do, also to pools, and writes nothing', async () => {
  const { limitEdits } = await aLiveDesk();
  const live = await limitEdits.live();
  const base = live?.pointer.set;
  const preview = await limitEdits.preview([money(950)], base);
  expect(preview).toMatchObject({
    outcome: 'valid',
    stale: false,
    rows: [{ effect: 'loosens' }],
    oversubscription: [
      {
        subject: 'group/100',
        path: 'acme',
        amount: 900_000_000,
        childrenAmount: 950_000_000,
        children: 1,
        larger: ['acme/payments'],
      },
    ],
  });
  expect(await limitEdits.live()).toEqual(live);
  await limitEdits.apply([money(501)], { actor: 'ann', rights: FINANCE, why: 'w', source: 's', base });
  expect(await limitEdits.preview([money(502)], base)).toMatchObject({ outcome: 'valid', stale: true });
});

test('rules that go from watching to enforcing without a warning are to be confirmed, one step on is not', async () => {
  const { limitEdits, by } = await aLiveDesk();
  const rollOut = async (mode: 'shadow' | 'warn' | 'enforce' | null, more = {}) =>
    (
      await limitEdits.apply(
        [{ kind: 'rollout', subject: 'project/1', cost: mode }],
        await by({ rights: ADMIN, ...more }),
      )
    ).outcome;
  expect(await rollOut('shadow')).toBe('live');
  expect(await rollOut('enforce', { confirmed: false })).toBe('needs_confirmation');
  expect(await rollOut('warn', { confirmed: false })).toBe('live');
  expect(await rollOut('enforce', { confirmed: false })).toBe('live');
  // Without a step of its own it follows its group again.
  expect(await rollOut(null)).toBe('live');
  expect((await limitEdits.live())?.document).not.toHaveProperty('rollout');
});
