import { expect, test } from 'vitest';
import type { LimitEdit, SetLimit } from '../../../../functions/core/limits/edit-model.ts';
import type { Rights } from '../../../../functions/core/limits/edit-outcomes.ts';
import { ROLES } from '../../../../functions/core/limits/rights.ts';
import { ADMIN, aLiveDesk, FINANCE, ownerOf } from './desk.ts';

const money = 'money-month';
const set = (subject: string, amount: string | number): LimitEdit => ({
  ...{ kind: 'set', subject, limit: money, amount },
});
const change = (more: Pick<SetLimit, 'mode' | 'owner'>): LimitEdit => ({
  ...{ kind: 'set', subject: 'group/101', limit: money, ...more },
});
const add = (subject: string, more: Pick<SetLimit, 'unit' | 'amount' | 'per'>): LimitEdit => ({
  ...{ kind: 'set', subject, ...more },
});
const jobs = (amount: number): LimitEdit => ({
  ...{ kind: 'set', subject: 'group/104', limit: 'jobs-now', amount },
});
const give = (subject: string): LimitEdit => ({
  ...{ kind: 'grant', subject, limit: money, amount: 5, reason: 'r' },
  ...{ from: '2026-11-01', until: '2026-11-30' },
});
const glass = { kind: 'breakglass', subject: 'group/101', users: [5], jobs: 1, until: '2026-11-22' } as const;
const each = (group: number): LimitEdit =>
  add(`group/${group}/each/pipeline`, { unit: 'money', per: 'once', amount: 5 });
const VIEWER: Rights = [{ role: 'viewer', groups: 'all' }];
const OWNERS = ['owner', 'finance', 'admin'];
const OTHERS = ['finance', 'admin'];

test.each<[string, LimitEdit, readonly string[]]>([
  ['lower the own limit', set('group/101', 400), OWNERS],
  ['raise the own limit', set('group/101', 600), OTHERS],
  ['remove the own limit', { kind: 'remove', subject: 'group/101', limit: money }, OTHERS],
  ['soften its mode', change({ mode: 'shadow' }), OTHERS],
  ['say who owns it', change({ owner: 'x' }), OWNERS],
  ['cap each pipeline of the own group', each(101), OWNERS],
  ['lower the parent', set('group/100', 800), OTHERS],
  ['lower a sibling', add('group/102', { unit: 'jobs', amount: 1 }), OTHERS],
  ['lower below the own group', jobs(5), OWNERS],
  ['raise below it what nothing above holds', jobs(20), OTHERS],
  ['raise below it what the own limit holds', set('group/104', 90), OWNERS],
  ['give below it what the own limit holds', give('group/104'), OWNERS],
  ['give to the own group', give('group/101'), OTHERS],
  ['freeze the own group', { kind: 'freeze', subject: 'group/101', reason: 'r' }, OWNERS],
  ['lift somebody else’s freeze', { kind: 'unfreeze', freeze: 'f-id1' }, OTHERS],
  ['break glass', { ...glass, reason: 'r' }, OTHERS],
  ['roll rules back', { kind: 'rollout', subject: 'group/101', cost: 'off' }, ['admin']],
  ['limit runner classes', add('runner-class/large', { unit: 'jobs', amount: 3 }), OTHERS],
])('who may %s', async (_, edit, may) => {
  const rights = { viewer: VIEWER, owner: ownerOf(101), finance: FINANCE, admin: ADMIN };
  for (const role of ROLES) {
    const { limitEdits, by } = await aLiveDesk();
    await limitEdits.apply(
      [
        { kind: 'set', subject: 'group/104', unit: 'money', amount: 80, per: 'month' },
        { kind: 'freeze', subject: 'group/101', reason: 'by finance', from: '2026-12-01' },
      ],
      await by({ actor: 'zoe' }),
    );
    const outcome = await limitEdits.apply([edit], await by({ actor: 'ann', rights: rights[role] }));
    // What takes two people may still be asked for by whoever has the right.
    const mayAsk = outcome.outcome === 'live' || outcome.outcome === 'needs_approval';
    expect(`${role}: ${mayAsk ? 'may' : outcome.outcome}`).toBe(
      `${role}: ${may.includes(role) ? 'may' : 'forbidden'}`,
    );
  }
});

test('an owner lifts a freeze that was the owner’s own', async () => {
  const { limitEdits, by } = await aLiveDesk();
  const rights = ownerOf(101);
  expect(
    (await limitEdits.apply([{ kind: 'freeze', subject: 'group/101', reason: 'r' }], await by({ rights })))
      .outcome,
  ).toBe('live');
  const lift: LimitEdit = { kind: 'unfreeze', freeze: 'f-id1' };
  expect((await limitEdits.apply([lift], await by({ rights, actor: 'ben' }))).outcome).toBe('forbidden');
  expect((await limitEdits.apply([lift], await by({ rights }))).outcome).toBe('live');
});

test('without a directory nobody has a subtree', async () => {
  const { limitEdits, by } = await aLiveDesk({ directory: async () => undefined });
  expect((await limitEdits.apply([jobs(5)], await by({ rights: ownerOf(101) }))).outcome).toBe('forbidden');
});
