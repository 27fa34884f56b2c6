import { expect, test } from 'vitest';
import type { LimitEdit } from '../../../../../functions/core/limits/edit-model.ts';
import type { LimitsDeskDeps } from '../../../../../functions/core/limits/limit-reads.ts';
import type { LimitSet } from '../../../../../policies/limits/limits.ts';
import { aDesk, type TestDesk } from './desk.ts';

/** 900 a month on acme, as Berlin counts months; the groups below have no budget, `group/200` nobody above it has one. */
async function inBerlin(over: Partial<LimitsDeskDeps> = {}): Promise<TestDesk> {
  const made = aDesk(over);
  const { desk, by } = made;
  const budget = { unit: 'money', amount: 900, per: 'month', zone: 'Europe/Berlin' } as const;
  const outcome = await desk.apply([{ kind: 'set', subject: 'group/100', ...budget }], await by());
  if (outcome.outcome !== 'live') throw new Error(JSON.stringify(outcome));
  return made;
}

async function liveAfter({ desk, by }: TestDesk, edit: LimitEdit): Promise<LimitSet> {
  const outcome = await desk.apply([edit], await by());
  if (outcome.outcome !== 'live') throw new Error(JSON.stringify(outcome));
  const live = await desk.live();
  if (live === undefined) throw new Error('nothing is live');
  return live.limits;
}

const isoOf = (atMs: number | undefined): string | undefined =>
  atMs === undefined ? undefined : new Date(atMs).toISOString();

test.each([
  { until: '2026-12-31', endsAt: '2026-12-31T23:00:00.000Z', what: 'in winter' },
  { until: '2027-03-27', endsAt: '2027-03-27T23:00:00.000Z', what: 'the day before summer time begins' },
  { until: '2027-03-28', endsAt: '2027-03-28T22:00:00.000Z', what: 'a day of 23 hours' },
  { until: '2027-10-31', endsAt: '2027-10-31T23:00:00.000Z', what: 'a day of 25 hours' },
])(
  'a freeze ends with its last day in the zone of the budget above: $until, $what',
  async ({ until, endsAt }) => {
    const limits = await liveAfter(await inBerlin(), {
      kind: 'freeze',
      subject: 'group/101',
      until,
      reason: 'release',
    });
    const [freeze] = limits.freezes?.get('group/101') ?? [];
    expect([isoOf(freeze?.untilMs), freeze?.zone]).toEqual([endsAt, 'Europe/Berlin']);
  },
);

test('a freeze of what no budget holds is meant in the zone of the deployment', async () => {
  const made = aDesk({ zone: 'America/New_York' });
  const limits = await liveAfter(made, {
    kind: 'freeze',
    subject: 'group/101',
    until: '2026-12-31',
    reason: 'x',
  });
  expect(isoOf(limits.freezes?.get('group/101')?.[0]?.untilMs)).toBe('2027-01-01T05:00:00.000Z');
});

test('a break-glass ends with its last day in the zone of the budget above', async () => {
  const limits = await liveAfter(await inBerlin(), {
    kind: 'breakglass',
    subject: 'group/101',
    users: [5],
    jobs: 3,
    from: '2026-11-21',
    until: '2026-11-23',
    reason: 'outage',
  });
  const [glass] = limits.breakGlasses ?? [];
  expect([isoOf(glass?.fromMs), isoOf(glass?.untilMs), glass?.zone]).toEqual([
    '2026-11-20T23:00:00.000Z',
    '2026-11-23T23:00:00.000Z',
    'Europe/Berlin',
  ]);
});

test('a grant whose last day ended in its own zone cannot be revoked, although that day goes on in UTC', async () => {
  // The desk's clock stands on 21 November 2026; 23:30 UTC is past midnight in Berlin.
  const made = await inBerlin();
  const { desk, by } = made;
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
  expect(await desk.apply([{ kind: 'revoke', grant: grant?.id ?? '' }], await by())).toMatchObject({
    outcome: 'invalid',
    problems: [{ message: expect.stringContaining('it is over already') }],
  });
});

test('rows of a change say in which zone their days are meant', async () => {
  const { desk, by } = await inBerlin();
  const freeze = { kind: 'freeze', subject: 'group/101', until: '2026-12-31', reason: 'release' } as const;
  const preview = await desk.preview([freeze], (await by()).base);
  const rows = preview.outcome === 'valid' ? preview.rows : [];
  expect(rows.find(({ field }) => field === 'until')).toMatchObject({
    to: '2026-12-31T23:00:00Z',
    zone: 'Europe/Berlin',
  });
});

async function nowOf({ desk }: TestDesk): Promise<number> {
  return (await desk.live())?.change.atMs ?? 0;
}
