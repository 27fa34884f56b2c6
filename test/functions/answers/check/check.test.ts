import { expect, test } from 'vitest';
import type { RequestedPipeline, RequestedPipelineJob } from '../../../../functions/answers/job/model.ts';
import { aJob, consoleHouse, LIMITS, USERS } from '../../console/house.ts';

const PERIOD = '2026-11';
const RULES = [
  { id: 'budgets', kind: 'budget', mode: 'enforce' },
  { id: 'at-once', kind: 'concurrency', mode: 'enforce' },
  { id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:*'] },
];
const unit: RequestedPipelineJob = { name: 'unit', tags: [], image: 'alpine:3.22', timeoutSeconds: 3_600 };

async function live(policy: object = {}) {
  const house = consoleHouse({ policy: { rules: RULES, ...policy } });
  await house.apply(LIMITS);
  const check = async (asked: Partial<RequestedPipeline>, who: keyof typeof USERS = 'job') => {
    const answer = await house.read.check({ jobs: [unit], ...asked }, USERS[who]);
    if (answer.outcome !== 'checked') throw new Error(answer.outcome);
    return answer.pipeline;
  };
  return { ...house, check };
}

test('a whole pipeline asks the sum of money, and of concurrent jobs its largest stage', async () => {
  const house = await live();
  const { limits, total, jobs } = await house.check(
    {
      project: 1,
      jobs: [
        { ...unit, stage: 'build', parallel: 3 },
        { ...unit, stage: 'test', parallel: 5 },
        { ...unit, name: 'other', image: 'node:24', stage: 'test' },
      ],
    },
    'finance',
  );
  const one = jobs[0]?.costMicros ?? 0;
  expect(one).toBeGreaterThan(0);
  expect(total).toEqual({ jobs: 9, costMicros: 9 * one, rejected: 1, notSure: 0 });
  expect(jobs[2]?.reasons).toMatchObject([{ rule: 'images', code: 'IMAGE_NOT_ALLOWED', mode: 'enforce' }]);
  const told = limits.map(({ label, limit, asked }) => [label, limit, asked]);
  expect(told).toContainEqual(['acme/payments/cards', 'jobs-now', 5]);
  for (const label of ['acme/payments/cards', 'acme/payments', 'acme'])
    expect(told).toContainEqual([label, 'money-month', 8 * one]);
});

test.each([
  ['none', [], 4],
  ['binding', [['group/104', 'money-month']], 3],
  ['all', [['group/104'], ['group/104'], ['group/101'], ['group/100']], 0],
] as const)('a job is told of limits what its group discloses: %s', async (levels, shown, hidden) => {
  const house = await live({ disclose: { default: levels } });
  house.counts('group/104', 'money-month', PERIOD, 3_000_000);
  const { limits, limitsHidden, jobs } = await house.check({});
  expect(limitsHidden).toBe(hidden);
  expect(limits.map(({ subject }) => subject).toSorted()).toEqual(
    shown.map(([subject]) => subject).toSorted(),
  );
  const text = jobs[0]?.reasons[0]?.text ?? '';
  expect(jobs[0]?.outcome).toBe('rejected');
  expect(/\d/.test(text)).toBe(levels === 'all');
});

test.each<[string, Partial<RequestedPipeline>, keyof typeof USERS]>([
  ['a job, of another project', { project: 2 }, 'job'],
  ['a job, of another project by its path', { project: 'beta/ops/tools' }, 'job'],
  ['a job, of a group', { group: 104 }, 'job'],
  ['a job, of its project and a group', { project: 1, group: 200 }, 'job'],
  ['a viewer of another subtree', { project: 1 }, 'viewer of another subtree'],
  ['a viewer of a group above theirs', { group: 100 }, 'viewer'],
  ['a person who names neither', {}, 'viewer'],
  ['finance, of what is not there', { project: 'acme/nothing' }, 'finance'],
])('%s is told that there is no such thing', async (_, asked, who) => {
  const house = await live();
  expect(await house.read.check({ jobs: [unit], ...asked }, USERS[who])).toEqual({ outcome: 'unknown' });
});

test('a rule that needs what was not said makes a job not sure, and no more', async () => {
  const rules = [{ id: 'refs', kind: 'image', mode: 'enforce', allow: ['alpine:*'], on_missing: 'reject' }];
  const house = await live({ rules });
  const { image: _, ...imageless } = unit;
  const { jobs, total } = await house.check({ jobs: [imageless] });
  expect(jobs[0]?.outcome).toBe('not sure');
  expect(total).toMatchObject({ rejected: 0, notSure: 1 });
});

test('a job once more is asked about as it was then, on top of what it used', async () => {
  const house = await live({ disclose: { default: 'all' } });
  const image = 'alpine:3.22';
  await house.ask([aJob(4711, { image }), aJob(4712, { image: 'node:24' })]);
  const one = (await house.check({})).jobs[0]?.costMicros ?? 0;
  const again = await house.read.check({ rerun: 4711 }, USERS.job);
  if (again.outcome !== 'checked') throw new Error(again.outcome);
  expect(again.pipeline).toMatchObject({
    place: { subject: 'project/1' },
    jobs: [{ name: 'unit', outcome: 'admitted', costMicros: one }],
  });
  const cards = again.pipeline.limits.find(
    ({ subject, limit }) => subject === 'group/104' && limit === 'money-month',
  );
  expect(cards).toMatchObject({ asked: one, left: 3_000_000 - one });
  const rejected = await house.read.check({ rerun: 4712 }, USERS.viewer);
  expect(rejected).toMatchObject({
    pipeline: { jobs: [{ outcome: 'rejected', reasons: [{ rule: 'images' }] }] },
  });
});

test.each([
  ['another project’s job', 4711, 'job of another subtree'],
  ['a job of another subtree', 4711, 'viewer of another subtree'],
  ['a job that is not there', 4799, 'finance'],
] as const)('%s is not told of once more', async (_, rerun, who) => {
  const house = await live();
  await house.ask([aJob(4711)]);
  expect(await house.read.check({ rerun }, USERS[who])).toEqual({ outcome: 'unknown' });
});
