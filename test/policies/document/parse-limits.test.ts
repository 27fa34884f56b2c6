import { expect, test } from 'vitest';
import { indexDirectory } from '../../../policies/directory.ts';
import { problemsOfLimits, someLimits } from '../documents.ts';

const one = (limit: object): object => ({ limits: [{ on: 'instance', ...limit }] });

test('limits are indexed by subject with ids made from kind and period', () => {
  const limits = someLimits({
    limits: [
      { on: { group: 101 }, money: '500.50', per: 'month', zone: 'Europe/Berlin', owner: 'payments-leads' },
      { on: { group: 101 }, minutes: 90, per: 'day' },
      { on: { group: 101 }, jobs: 20, mode: 'shadow' },
      { on: { runner_class: 'large' }, jobs: 'unlimited' },
      { on: 'instance', id: 'hard-stop', money: 0, per: 'week' },
      { on: { user: 5 }, jobs: 1 },
      { on: { project: 7 }, jobs: 1 },
    ],
  });
  expect([...limits.bySubject.keys()]).toEqual([
    'group/101',
    'runner-class/large',
    'instance',
    'user/5',
    'project/7',
  ]);
  expect(limits.bySubject.get('group/101')).toEqual([
    {
      id: 'money-month',
      subject: 'group/101',
      kind: 'money',
      unit: 'micros',
      amount: 500_500_000,
      per: 'month',
      zone: 'Europe/Berlin',
      mode: 'enforce',
      owner: 'payments-leads',
    },
    {
      id: 'minutes-day',
      subject: 'group/101',
      kind: 'minutes',
      unit: 'seconds',
      amount: 5_400,
      per: 'day',
      zone: 'UTC',
      mode: 'enforce',
    },
    {
      id: 'jobs-now',
      subject: 'group/101',
      kind: 'jobs',
      unit: 'jobs',
      amount: 20,
      zone: 'UTC',
      mode: 'shadow',
    },
  ]);
  expect(limits.bySubject.get('runner-class/large')?.[0]?.amount).toBe('unlimited');
  expect(limits.bySubject.get('instance')?.[0]).toMatchObject({ id: 'hard-stop', amount: 0 });
});

test.each<[unknown, string]>([
  [
    one({ per: 'month' }),
    'limits[0]: has no number; expected one of money, minutes, jobs, cpu, memory, starts',
  ],
  [one({ money: 1, jobs: 1, per: 'month' }), 'limits[0]: has money and jobs; expected one of'],
  [one({ money: 1 }), 'limits[0].per: missing; expected a period: minute, hour, day, week, month'],
  [one({ jobs: 1, per: 'day' }), "limits[0].per: 'day'; expected nothing"],
  [one({ jobs: 1, owner: 'leads\u0007' }), "limits[0].owner: 'leads\u0007'; expected a name of at most"],
  [one({ money: 1, per: 'day', zone: 'Europe/Brelin' }), "limits[0].zone: 'Europe/Brelin'; expected a zone"],
  [one({ cpu: '64 cores' }), "limits[0].cpu: '64 cores'; expected CPUs such as 64"],
  [
    one({ money: 5, per: 'week', fiscal_start: '04-06' }),
    "limits[0].fiscal_start: '04-06'; expected nothing: only month, quarter, year",
  ],
  [one({ money: 5, per: 'year', fiscal_start: '04-29' }), 'limits[0].fiscal_start: '],
  [one({ money: 5, per: 'year', fiscal_start: '4-6' }), 'limits[0].fiscal_start: '],
  [one({ jobs: 10, soft: 10 }), 'limits[0].soft: 10; expected less: it does not fit'],
  [one({ jobs: 1, soft: '80%' }), "limits[0].soft: '80%'; expected more: this is"],
  [one({ jobs: 0, grace: '10%' }), "limits[0].grace: '10%'; expected more"],
  [
    { limits: [{ on: { group: 1, user: 2 }, jobs: 1 }] },
    'limits[0].on: an object with group, user; expected exactly one',
  ],
  [one({ id: 'a|b', jobs: 1 }), "limits[0].id: 'a|b'; expected a name"],
  [
    {
      limits: [
        { on: 'instance', jobs: 1 },
        { on: 'instance', jobs: 2 },
      ],
    },
    "limits[1]: is a second limit 'jobs-now' on instance; give each an id",
  ],
  [{ rollout: [{ group: 1 }, { group: 1 }] }, 'rollout[1].group: 1; expected a group that is named once'],
  [
    { rollout: [{ group: 1, project: 2 }] },
    'rollout[0]: names several subjects; expected one of instance, group and project',
  ],
  [{ personal_default: [{ on: 'instance', jobs: 1 }] }, 'personal_default[0].on: unknown key'],
])('%j is refused with place and remedy', (document, problem) => {
  const problems = problemsOfLimits(document);
  expect(
    problems.some((each) => each.startsWith(problem)),
    problems.join('\n'),
  ).toBe(true);
});

test.each<[string, object, object]>([
  ['CPUs', { cpu: 64 }, { id: 'cpu-now', kind: 'cpu', unit: 'millicpu', amount: 64_000, zone: 'UTC' }],
  ['memory', { memory: '256Gi' }, { id: 'memory-now', unit: 'bytes', amount: 256 * 2 ** 30 }],
  ['starts', { starts: 100, per: 'hour' }, { id: 'starts-hour', unit: 'starts', amount: 100, per: 'hour' }],
  ['a share to warn from', { money: 500, per: 'month', soft: '80%' }, { softAmount: 400_000_000 }],
  ['a share rounded down', { jobs: 7, soft: '50%' }, { softAmount: 3 }],
  ['an amount of grace', { minutes: 100, per: 'week', grace: 20 }, { graceAmount: 7_200 }],
])('%s are read exactly', (_, limit, expected) => {
  expect(someLimits(one(limit)).bySubject.get('instance')?.[0]).toMatchObject(expected);
});

test.each([
  [{}, {}, 20],
  [{}, { lend: 1 }, 17],
  [{}, { lend: '50%' }, 17],
  [{ lend: 1 }, { lend: 1 }, 16],
])(
  'the counters of a cohort count towards the 24: lending %j next to one that lends %j',
  (own, other, others) => {
    const member = (group: number, more: object): object => ({
      ...{ on: { group }, jobs: 10, cohort: 'ci' },
      ...more,
    });
    const limits = (count: number): object => ({
      limits: [
        member(101, own),
        member(102, other),
        ...Array.from({ length: count }, (_, at) => ({ on: 'instance', id: `l${at}`, jobs: 10 })),
      ],
    });
    expect(problemsOfLimits(limits(others))).toEqual([]);
    expect(problemsOfLimits(limits(others + 1))).toHaveLength(1);
  },
);

test('limits that would give one job more than 24 counters over all levels are refused', () => {
  const groups = [1, 2, 3, 4, 5].map((id) => ({
    id,
    path: 'a/'.repeat(id).slice(0, -1),
    personal: false,
    ...(id > 1 && { parentId: id - 1 }),
  }));
  const limitsOf = (each: number): object => ({
    limits: groups.flatMap(({ id }) =>
      Array.from({ length: each }, (_, at) => ({ on: { group: id }, id: `l${at}`, jobs: 1 })),
    ),
  });
  expect(problemsOfLimits(limitsOf(4), indexDirectory(groups))).toEqual([]);
  expect(problemsOfLimits(limitsOf(5), indexDirectory(groups))).toEqual([
    'limits: give a job in a/a/a/a/a up to 25 counters; expected at most 24 over all levels',
  ]);
  expect(problemsOfLimits(limitsOf(13))).toEqual([
    'limits: give a job up to 26 counters; expected at most 24 over all levels',
  ]);
});

test('limits of what comes back within seconds may let jobs wait, and no others', () => {
  const waits = (limit: object) => someLimits(one(limit)).bySubject.get('instance')?.[0]?.waitMs;
  expect(waits({ jobs: 2, wait: '20s' })).toBe(20_000);
  expect(waits({ cpu: 4, wait: '1m' })).toBe(60_000);
  expect(waits({ memory: '4Gi', wait: '5s' })).toBe(5_000);
  expect(waits({ starts: 4, per: 'minute', wait: '30s' })).toBe(30_000);
  expect(waits({ jobs: 2, wait: 'up to 20s' }), 'as stored limits may have it').toBe(20_000);
  expect(waits({ jobs: 2 })).toBeUndefined();
  const REFUSED =
    'limits[0].wait: is on a limit of money; only jobs, cpu, memory and starts can be waited for';
  expect(problemsOfLimits(one({ money: 5, per: 'month', wait: '20s' }))).toEqual([REFUSED]);
  expect(problemsOfLimits(one({ minutes: 5, per: 'day', wait: '20s' }))).toEqual([
    REFUSED.replace('money', 'minutes'),
  ]);
  for (const wait of ['61s', '0s', 20, 'soon'])
    expect(problemsOfLimits(one({ jobs: 2, wait }))[0]).toContain('expected the longest wait for headroom');
});

test('limits on what is given back may share a cohort, borrow and lend', () => {
  const found = (limit: object) => {
    const document = { limits: [{ on: { group: 101 }, ...limit }] };
    const { cohort, borrow, borrowShare, lend, lendShare } =
      someLimits(document).bySubject.get('group/101')?.[0] ?? {};
    return { cohort, borrow, borrowShare, lend, lendShare };
  };
  expect(found({ jobs: 10, cohort: 'ci', borrow: 5, lend: '40%' })).toEqual({
    ...{ cohort: 'ci', borrow: 5, lend: 4, lendShare: 40_000 },
  });
  expect(found({ cpu: 4, cohort: 'ci', borrow: '50%', lend: 0 })).toEqual({
    ...{ cohort: 'ci', borrow: 2_000, borrowShare: 50_000, lend: 0 },
  });
  const refused = (limit: object) => problemsOfLimits({ limits: [{ on: { group: 101 }, ...limit }] })[0];
  expect(refused({ jobs: 10, borrow: 5 })).toContain('limits[0].borrow: needs a cohort');
  expect(refused({ money: 10, per: 'month', cohort: 'ci' })).toContain('only for limits of one group');
  expect(refused({ jobs: 10, cohort: 'ci', lend: 11 })).toContain('it does not fit the limit');
  expect(refused({ jobs: 10, cohort: 'ci', soft: '80%' })).toContain('it borrows instead');
  expect(refused({ jobs: 'unlimited', cohort: 'ci' })).toContain('with an amount');
  expect(problemsOfLimits(one({ jobs: 10, cohort: 'ci' }))[0]).toContain('of one group');
});
