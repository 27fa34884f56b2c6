import { expect, test } from 'vitest';
import { editDocument } from '../../../../functions/core/limits/edit-document.ts';
import type { LimitEdit, ScaleLimits } from '../../../../functions/core/limits/edit-model.ts';
import type { LimitEditsDeps } from '../../../../functions/core/limits/limit-reads.ts';
import { publishLimits } from '../../../../functions/core/limits/publish-limits.ts';
import type { LimitSet } from '../../../../policies/limits/limits.ts';
import { aDirectory, aPolicy, NOW_MS } from '../../../policies/documents.ts';
import { aDesk, type TestDesk } from './desk.ts';

/** 900 a month on acme, as Berlin counts months; the groups below have no budget, `group/200` nobody above it has one. */
async function inBerlin(over: Partial<LimitEditsDeps> = {}): Promise<TestDesk> {
  const made = aDesk(over);
  const { limitEdits, by } = made;
  const budget = { unit: 'money', amount: 900, per: 'month', zone: 'Europe/Berlin' } as const;
  const outcome = await limitEdits.apply([{ kind: 'set', subject: 'group/100', ...budget }], await by());
  if (outcome.outcome !== 'live') throw new Error(JSON.stringify(outcome));
  return made;
}

async function liveAfter({ limitEdits, by }: TestDesk, edit: LimitEdit): Promise<LimitSet> {
  const outcome = await limitEdits.apply([edit], await by());
  if (outcome.outcome !== 'live') throw new Error(JSON.stringify(outcome));
  const live = await limitEdits.live();
  if (live === undefined) throw new Error('nothing is live');
  return live.limits;
}

const isoOf = (atMs: number | undefined): string | undefined =>
  atMs === undefined ? undefined : new Date(atMs).toISOString();

test('a field that a newer version wrote stays through the edits of this one', async () => {
  const made = aDesk();
  const onAcme = { on: { group: 100 }, money: 900, per: 'month', lane: 'merge requests' };
  const document = { limits: [onAcme], lanes: { 'merge requests': 60 } };
  const change = { actor: 'newer', why: 'a lane', source: 'test', atMs: NOW_MS };
  await publishLimits(document, change, { table: made.table, policy: aPolicy(), directory: aDirectory });
  const limits = await liveAfter(made, {
    ...{ kind: 'set', subject: 'group/100', limit: 'money-month', amount: 800 },
    thresholds: ['forecast 100'],
  });
  expect(limits.bySubject.get('group/100')).toMatchObject([{ id: 'money-month' }]);
  expect((await made.limitEdits.live())?.document).toMatchObject({
    limits: [{ money: 800, lane: 'merge requests' }],
    lanes: { 'merge requests': 60 },
  });
});

test('a freeze ends with its last day in the zone of the deployment', async () => {
  const limits = await liveAfter(await inBerlin({ zone: 'Europe/Berlin' }), {
    kind: 'freeze',
    subject: 'group/101',
    until: '2026-12-31',
    reason: 'release',
  });
  const [freeze] = limits.freezes?.get('group/101') ?? [];
  expect([isoOf(freeze?.untilMs), freeze?.zone]).toEqual(['2026-12-31T23:00:00.000Z', 'Europe/Berlin']);
});

test('a grant whose last day ended in its own zone cannot be revoked, although that day goes on in UTC', async () => {
  // The desk's clock stands on 21 November 2026; 23:30 UTC is past midnight in Berlin.
  const made = await inBerlin();
  const { limitEdits, by } = made;
  const limits = await liveAfter(made, {
    kind: 'grant',
    subject: 'group/100',
    limit: 'money-month',
    amount: '+1',
    from: '2026-11-01',
    until: '2026-11-21',
    reason: 'x',
  });
  const grant = limits.bySubject.get('group/100')?.[0]?.grants?.[0];
  made.pass((grant?.untilMs ?? 0) + 60_000 - (await nowOf(made)));
  expect(await limitEdits.apply([{ kind: 'revoke', grant: grant?.id ?? '' }], await by())).toMatchObject({
    outcome: 'invalid',
    problems: [{ message: expect.stringContaining('it is over already') }],
  });
});

async function nowOf({ limitEdits }: TestDesk): Promise<number> {
  return (await limitEdits.live())?.change.atMs ?? 0;
}

const DOCUMENT = {
  limits: [
    { on: 'instance', money: 10_000, per: 'month' },
    { on: { group: 100 }, money: '900.50', per: 'month' },
    { on: { group: 100 }, minutes: 500, per: 'month' },
    { on: { group: 101 }, money: 'unlimited', per: 'month' },
    { on: { group: 104 }, money: 3, per: 'month', soft: '80%' },
    { on: { project: 1 }, money: 0, per: 'month' },
    { on: { project: 1 }, money: '0.10', per: 'day' },
    { on: { each: 'user', group: 100 }, money: 5, per: 'day' },
    { on: { group: 200 }, money: 100, per: 'month' },
  ],
};
/** 100 ▸ 101 ▸ 104 ▸ project 1. */
const BELOW_100 = ['group/100', 'group/101', 'group/104', 'project/1'];
const context = {
  actor: 'fritz',
  nowMs: 0,
  newId: () => 'id',
  reaches: (above: string, subject: string) => above === 'group/100' && BELOW_100.includes(subject),
};

function scaled(edit: Omit<ScaleLimits, 'kind'>) {
  const edited = editDocument(DOCUMENT, [{ kind: 'scale', ...edit }], context);
  if (!edited.ok) return edited.problems.map(({ path, message }) => `${path.at(-1)}: ${message}`);
  const { limits } = edited.document as typeof DOCUMENT;
  return limits.map(({ money, minutes }) => money ?? minutes);
}

test('all limits of a kind in a place and below it go by a share; unlimited, 0, caps and others stay', () => {
  expect(scaled({ subject: 'group/100', by: '+8 %' })).toEqual([
    ...[10_000, '972.54', 500, 'unlimited', '3.24', 0, '0.108', 5, 100],
  ]);
});

test.each([
  ['its own alone', { subject: 'group/100', by: '-50%', below: false }, [1, '450.25']],
  ['everything', { subject: 'instance', by: '+12,5%' }, [8, '112.5']],
  ['to tens', { subject: 'instance', by: '+8%', round: 10 }, [1, '970']],
  ['never to nothing', { subject: 'group/104', by: '+1%', round: 100 }, [4, '100']],
] as const)('%s', (_, edit, [index, amount]) => {
  expect(scaled(edit)[index]).toBe(amount);
});

test.each([
  [{ subject: 'group/100', by: '8%' }, "by: '8%'; expected a share such as +8% or -12.5%"],
  [{ subject: 'group/100', by: '-101%' }, "by: '-101%' would be less than nothing"],
  [{ subject: 'group/100', by: '+8%', round: '0' }, "round: '0'; expected a step above 0, such as 10 or 0.5"],
] as const)('%j is refused', (edit, problem) => {
  expect(scaled(edit)).toEqual([problem]);
});

test('a limit on starts is scaled to a whole number of jobs, or refused', async () => {
  const made = aDesk();
  const { limitEdits, by } = made;
  await liveAfter(made, { kind: 'set', subject: 'group/101', unit: 'starts', amount: 20, per: 'hour' });
  const scale = { kind: 'scale', subject: 'group/101', by: '+8%', unit: 'starts' } as const;
  expect(await limitEdits.apply([scale], await by())).toMatchObject({
    outcome: 'invalid',
    problems: [{ path: ['edits', 0, 'amount'], message: expect.stringContaining('21.6') }],
  });
  const limits = await liveAfter(made, { ...scale, round: 1 });
  expect(limits.bySubject.get('group/101')?.map(({ amount }) => amount)).toEqual([22]);
});

const money = (amount: number, subject = 'group/101'): LimitEdit => ({
  kind: 'set',
  subject,
  limit: 'money-month',
  amount,
});

test('by subject it tells what was changed there, also within an import of hundreds', async () => {
  const { limitEdits, by } = aDesk();
  const limits = Array.from({ length: 300 }, (_, at) => ({
    on: { group: 1_000 + at },
    money: 5,
    per: 'month',
    owner: `o${at}`,
  }));
  await limitEdits.apply([{ kind: 'replace', document: { limits } }], await by());
  await limitEdits.apply([money(6, 'group/1007')], await by());
  await limitEdits.apply([money(6, 'group/1008')], await by());
  const { entries, next } = await limitEdits.history({ subject: 'group/1007', max: 10 });
  expect(next).toBeUndefined();
  expect(entries.map(({ edit, rows }) => [edit, rows?.map(({ field }) => field)])).toEqual([
    [2, ['amount']],
    [1, ['amount', 'mode', 'per', 'owner']],
  ]);
  expect(entries[1]?.count).toBe(1_200);
  const all = await limitEdits.history({ max: 10 });
  expect(all.entries.map(({ count, rows }) => [count, rows?.length])).toEqual([
    [1, 1],
    [1, 1],
    [1_200, undefined],
  ]);
});

test('by subject it opens ten large edits for one page, and goes on from there', async () => {
  const { limitEdits, by } = aDesk();
  for (let made = 1; made <= 12; made += 1) {
    const limits = Array.from({ length: 41 }, (_, at) => ({
      on: { group: at + 1 },
      money: 100 - made,
      per: 'month',
    }));
    await limitEdits.apply([{ kind: 'replace', document: { limits } }], await by());
  }
  const { entries, next } = await limitEdits.history({ subject: 'group/1', max: 100 });
  expect([entries.length, next]).toEqual([10, 3]);
  const rest = await limitEdits.history({ subject: 'group/1', max: 100, before: 3 });
  expect(rest.entries.map(({ edit }) => edit)).toEqual([2, 1]);
});
