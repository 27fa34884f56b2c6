import { expect, test } from 'vitest';
import { directoryOf } from '../../policies/directory.ts';
import { parseLimits } from '../../policies/parse-limits.ts';
import { problemText } from '../../policies/parsed.ts';
import { aPolicy, someLimits } from './documents.ts';

const problemsOf = (document: unknown, directory?: Parameters<typeof parseLimits>[3]): readonly string[] => {
  const parsed = parseLimits(document, 'v', aPolicy(), directory);
  return parsed.ok ? [] : parsed.problems.map(problemText);
};
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

test.each<[string, unknown, string]>([
  ['no number', one({ per: 'month' }), 'limits[0]: has no number; expected one of money, minutes or jobs'],
  [
    'two numbers',
    one({ money: 1, jobs: 1, per: 'month' }),
    'limits[0]: has money and jobs; write one limit for each',
  ],
  ['no period', one({ money: 1 }), 'limits[0].per: missing; expected a period: day, week, month'],
  ['a period for jobs at once', one({ jobs: 1, per: 'day' }), "limits[0].per: 'day'; expected nothing"],
  ['a zone for jobs at once', one({ jobs: 1, zone: 'UTC' }), "limits[0].zone: 'UTC'; expected nothing"],
  ['half a job', one({ jobs: 1.5 }), 'limits[0].jobs: 1.5; expected'],
  ['a negative budget', one({ money: -1, per: 'day' }), 'limits[0].money: -1; expected a decimal number'],
  ['not a number', one({ money: Number.NaN, per: 'day' }), 'limits[0].money: NaN; expected a decimal number'],
  [
    'a decimal comma',
    one({ money: '100,00', per: 'day' }),
    "limits[0].money: '100,00'; expected a decimal number",
  ],
  [
    'a zone that is none',
    one({ money: 1, per: 'day', zone: 'Europe/Brelin' }),
    "limits[0].zone: 'Europe/Brelin'; expected a zone",
  ],
  [
    'an offset for a zone',
    one({ money: 1, per: 'day', zone: '+01:00' }),
    "limits[0].zone: '+01:00'; expected a zone",
  ],
  ['no subject', { limits: [{ jobs: 1 }] }, 'limits[0].on: missing; expected instance,'],
  [
    'two subjects',
    { limits: [{ on: { group: 1, user: 2 }, jobs: 1 }] },
    'limits[0].on: an object with group, user; expected exactly one',
  ],
  [
    'a runner class that is none',
    { limits: [{ on: { runner_class: 'lagre' }, jobs: 1 }] },
    "limits[0].on.runner_class: 'lagre'; expected a runner class",
  ],
  ['an id that could break a key', one({ id: 'a|b', jobs: 1 }), "limits[0].id: 'a|b'; expected a name"],
  [
    'two limits of one kind',
    {
      limits: [
        { on: 'instance', jobs: 1 },
        { on: 'instance', jobs: 2 },
      ],
    },
    "limits[1]: is a second limit 'jobs-now' on instance; give each an id",
  ],
  [
    'a rollout of security',
    { rollout: [{ group: 1, security: 'shadow' }] },
    'rollout[0].security: cannot be rolled out here',
  ],
  [
    'a group rolled out twice',
    { rollout: [{ group: 1 }, { group: 1 }] },
    'rollout[1].group: 1; expected a group that is named once',
  ],
  [
    'a personal default with a subject',
    { personal_default: [{ on: 'instance', jobs: 1 }] },
    'personal_default[0].on: unknown key',
  ],
])('%s is refused with place and remedy', (_, document, problem) => {
  const problems = problemsOf(document);
  expect(
    problems.some((each) => each.startsWith(problem)),
    problems.join('\n'),
  ).toBe(true);
});

test('two limits of one kind and period live side by side under ids of their own', () => {
  const limits = someLimits({
    limits: [
      { on: 'instance', jobs: 1 },
      { on: 'instance', id: 'soft', jobs: 2 },
    ],
  });
  expect(limits.bySubject.get('instance')?.map(({ id }) => id)).toEqual(['jobs-now', 'soft']);
});

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
  expect(problemsOf(limitsOf(4), directoryOf(groups))).toEqual([]);
  expect(problemsOf(limitsOf(5), directoryOf(groups))).toEqual([
    'limits: give a job in a/a/a/a/a up to 25 counters; expected at most 24 over all levels',
  ]);
  expect(problemsOf(limitsOf(13))).toEqual([
    'limits: give a job up to 26 counters; expected at most 24 over all levels',
  ]);
});
