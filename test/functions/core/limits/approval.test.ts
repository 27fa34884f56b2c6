import { expect, test } from 'vitest';
import type { LimitEdit } from '../../../../functions/core/limits/edit-model.ts';
import type { Requester } from '../../../../functions/core/limits/edit-outcomes.ts';
import { memoryLimitTable } from '../../../support/tables/memory-limit-table.ts';
import { ADMIN, aDesk, aLiveDesk, FINANCE, ownerOf, type TestDesk } from './desk.ts';

const DAY_MS = 86_400_000;
const zoe: Requester = { actor: 'zoe', rights: FINANCE };

const money = (amount: number | string, more: object = {}): LimitEdit => ({
  kind: 'set',
  subject: 'group/101',
  limit: 'money-month',
  amount,
  ...more,
});
const jobs = (amount: number | string): LimitEdit => ({
  kind: 'set',
  subject: 'group/104',
  limit: 'jobs-now',
  amount,
});
const grant = (amount: number, until = '2026-11-30'): LimitEdit => ({
  kind: 'grant',
  subject: 'group/101',
  limit: 'money-month',
  amount,
  from: '2026-11-01',
  until,
  reason: 'release week',
});

const outcomeOf = async ({ limitEdits, by }: TestDesk, edits: readonly LimitEdit[]): Promise<string> =>
  (await limitEdits.apply(edits, await by({ rights: ADMIN }))).outcome;

async function asked({ limitEdits, by }: TestDesk, edits: readonly LimitEdit[]) {
  const outcome = await limitEdits.apply(edits, await by());
  if (outcome.outcome !== 'needs_approval' || outcome.request === undefined)
    throw new Error(JSON.stringify(outcome));
  return outcome.request;
}

test.each<[string, readonly LimitEdit[]]>([
  ['an amount', [money(751)]],
  ['no amount any more', [money('unlimited')]],
  ['a grant', [grant(251)]],
  ['a share of grace beside a larger amount', [money(700, { grace: '10%' })]],
  ['what is carried over', [money(500, { carry: '60%' })]],
  ['a milder mode', [money(500, { mode: 'warn' })]],
  ['the limit removed', [{ kind: 'remove', subject: 'group/101', limit: 'money-month' }]],
  [
    'the limit removed and another put in its place',
    [
      { kind: 'remove', subject: 'group/101', limit: 'money-month' },
      { kind: 'set', subject: 'group/101', unit: 'money', per: 'day', amount: 500 },
    ],
  ],
  ['an amount and a grant that are too much together', [money(600), grant(200)]],
])('one person alone cannot give more than half as much again: %s', async (_, edits) => {
  const made = await aLiveDesk();
  const before = (await made.limitEdits.live())?.pointer;
  expect(await outcomeOf(made, edits)).toBe('needs_approval');
  expect((await made.limitEdits.live())?.pointer).toEqual(before);
});

test.each<[string, readonly LimitEdit[]]>([
  ['half as much again', [money(750)]],
  ['half as much again by a grant', [grant(250)]],
  ['a limit where there was none', [{ kind: 'set', subject: 'group/102', unit: 'jobs', amount: 5 }]],
  ['another owner', [money(500, { owner: 'finance-team' })]],
])('one person alone may give %s', async (_, edits) => {
  expect(await outcomeOf(await aLiveDesk(), edits)).toBe('live');
});

test('an own limit over a default asks for the same as raising the default', async () => {
  const made = aDesk();
  const { limitEdits, by } = made;
  await limitEdits.apply(
    [{ kind: 'set', subject: 'groups/acme/*', unit: 'money', per: 'month', amount: 100 }],
    await by({ rights: ADMIN }),
  );
  const own = (amount: number): LimitEdit => ({
    kind: 'set',
    subject: 'group/101',
    unit: 'money',
    per: 'month',
    amount,
  });
  expect(await outcomeOf(made, [own(151)])).toBe('needs_approval');
  expect(await outcomeOf(made, [own(150)])).toBe('live');
  // What stood there before it was an own one counts as well.
  expect(await outcomeOf(made, [money(200)])).toBe('needs_approval');
});

test('small steps within thirty days are one large one; what was approved, or is older, counts no more', async () => {
  const made = await aLiveDesk();
  const { limitEdits, pass } = made;
  expect(await outcomeOf(made, [money(600)])).toBe('live');
  pass(10 * DAY_MS);
  expect(await outcomeOf(made, [money(750)])).toBe('live');
  pass(10 * DAY_MS);
  expect(await outcomeOf(made, [money(751)])).toBe('needs_approval');
  // Neither a step down in between nor another person's steps make a new start.
  expect(await outcomeOf(made, [money(300)])).toBe('live');
  expect(await outcomeOf(made, [money(600)])).toBe('needs_approval');
  const { id } = await asked(made, [money(2_000)]);
  expect(await limitEdits.decide(id, { decision: 'approve' }, zoe)).toMatchObject({ outcome: 'approved' });
  expect(await outcomeOf(made, [money(3_000)])).toBe('live');
  expect(await outcomeOf(made, [money(3_001)])).toBe('needs_approval');
  pass(31 * DAY_MS);
  expect(await outcomeOf(made, [money(4_500)])).toBe('live');
});

test('what the log unknown any more takes two', async () => {
  const table = memoryLimitTable();
  const made = await aLiveDesk({ table });
  const readLog = table.readLog.bind(table);
  table.readLog = async (before, max) => {
    const [item] = await readLog(undefined, 1, { timeoutMs: 1 });
    if (item === undefined) return [];
    return Array.from({ length: max }, (_, at) => ({ ...item, edit: (before ?? 1_000_000) - 1 - at }));
  };
  expect(await outcomeOf(made, [money(510)])).toBe('needs_approval');
});

test('another person approves the edit itself: it becomes live exactly as it was shown', async () => {
  const made = await aLiveDesk();
  const { limitEdits, by } = made;
  const edits = [money(300_000, { owner: 'cfo' }), jobs(8)];
  const base = (await limitEdits.live())?.pointer.set;
  const preview = await limitEdits.preview(edits, base);
  const request = await asked(made, edits);
  expect(request).toMatchObject({
    state: 'pending',
    requestedBy: 'ann',
    subject: 'instance',
    edit: { count: 3, rows: [{ subject: 'group/101', field: 'amount', to: 300_000_000_000 }] },
  });
  expect(
    await limitEdits.decide(request.id, { decision: 'approve' }, { actor: 'ann', rights: ADMIN }),
  ).toMatchObject({
    outcome: 'forbidden',
    own: true,
  });
  expect(await limitEdits.requested(request.id)).toMatchObject({ edits, stale: false });
  // Somebody else's edit of something else is not in the way.
  await limitEdits.apply([{ kind: 'set', subject: 'group/102', unit: 'jobs', amount: 3 }], await by());
  expect(await limitEdits.decide(request.id, { decision: 'approve' }, zoe)).toMatchObject({
    outcome: 'approved',
    request: { granted: true, decidedBy: 'zoe' },
  });
  const [entry] = (await limitEdits.history({ max: 1 })).entries;
  expect(entry).toMatchObject({ actor: 'zoe', source: `request ${request.id}` });
  expect(entry?.rows).toEqual(preview.outcome === 'valid' ? preview.rows : []);
});

test('a request whose limit was changed meanwhile is stale, and changes nothing', async () => {
  const made = await aLiveDesk();
  const { limitEdits, by } = made;
  const request = await asked(made, [money(300_000)]);
  await limitEdits.apply([money(400)], await by());
  expect(await limitEdits.requested(request.id)).toMatchObject({ stale: true });
  const live = await limitEdits.live();
  expect(await limitEdits.decide(request.id, { decision: 'approve' }, zoe)).toMatchObject({
    outcome: 'stale',
  });
  expect(await limitEdits.live()).toEqual(live);
  expect(await limitEdits.requests(zoe)).toMatchObject([{ state: 'pending' }]);
  expect(await limitEdits.decide(request.id, { decision: 'decline', note: 'ask again' }, zoe)).toMatchObject({
    outcome: 'declined',
  });
});

test('an owner approves what is below a limit of their own, and sees nothing of what goes further', async () => {
  const made = await aLiveDesk();
  const { limitEdits } = made;
  const olga: Requester = { actor: 'olga', rights: ownerOf(100) };
  const wide = await asked(made, [
    money(300_000),
    { kind: 'set', subject: 'instance', unit: 'jobs', amount: 9 },
  ]);
  expect(await limitEdits.requests(olga)).toEqual([]);
  expect(await limitEdits.decide(wide.id, { decision: 'approve' }, olga)).toMatchObject({
    outcome: 'forbidden',
  });
  const own = await asked(made, [money(1_000)]);
  expect(
    await limitEdits.decide(own.id, { decision: 'approve' }, { ...olga, rights: ownerOf(101) }),
  ).toMatchObject({
    outcome: 'forbidden',
  });
  expect(await limitEdits.decide(own.id, { decision: 'approve' }, olga)).toMatchObject({
    outcome: 'approved',
  });
});

test('approved by somebody whose edit was heard although its answer was lost, it is made once', async () => {
  let writes = Number.NEGATIVE_INFINITY;
  const table = memoryLimitTable((operation) => {
    if (operation === 'putRequest') writes += 1;
    return operation === 'putRequest' && writes === 2 ? 'lost-before' : undefined;
  });
  const made = await aLiveDesk({ table });
  const { limitEdits } = made;
  const request = await asked(made, [money(300_000)]);
  writes = 0;
  await expect(limitEdits.decide(request.id, { decision: 'approve' }, zoe)).rejects.toMatchObject({
    code: 'limits_unavailable',
  });
  expect(await limitEdits.requests(zoe)).toMatchObject([{ state: 'approved', granted: false }]);
  const edit = (await limitEdits.live())?.pointer.edit;
  expect(await limitEdits.decide(request.id, { decision: 'approve' }, zoe)).toMatchObject({
    outcome: 'approved',
    request: { granted: true },
    pointer: { edit },
  });
});
