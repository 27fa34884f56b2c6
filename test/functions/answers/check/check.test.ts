import { expect, test } from 'vitest';
import type { AskedPipeline, AskedPipelineJob } from '../../../../functions/answers/job/model.ts';
import { aJob, consoleHouse, LIMITS, USERS } from '../../console/house.ts';

const PERIOD = '2026-11';
const RULES = [
  { id: 'budgets', kind: 'budget', mode: 'enforce' },
  { id: 'at-once', kind: 'concurrency', mode: 'enforce' },
  { id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:*'] },
];
const unit: AskedPipelineJob = { name: 'unit', tags: [], image: 'alpine:3.22', timeoutSeconds: 3_600 };

async function live(policy: object = {}) {
  const house = consoleHouse({ policy: { rules: RULES, ...policy } });
  await house.apply(LIMITS);
  const check = async (asked: Partial<AskedPipeline>, who: keyof typeof USERS = 'job') => {
    const answer = await house.read.check({ jobs: [unit], ...asked }, USERS[who]);
    if (answer.outcome !== 'checked') throw new Error(answer.outcome);
    return answer.pipeline;
  };
  return { ...house, check };
}

test('what a job is told it would meet is what it meets', async () => {
  const house = await live();
  for (const [spent, image] of [
    [0, 'alpine:3.22'],
    [2_999_999, 'alpine:3.22'],
    [0, 'node:24'],
  ] as const) {
    house.counts('group/104', 'money-month', PERIOD, spent);
    const { jobs } = await house.check({ jobs: [{ ...unit, image }] });
    const real = consoleHouse({ policy: { rules: RULES } });
    await real.apply(LIMITS);
    if (spent > 0)
      await real.apply([{ kind: 'set', subject: 'group/104', limit: 'money-month', amount: 0.000001 }]);
    const [decision] = await real.ask([aJob(4711, { image })]);
    expect(jobs[0]?.outcome).toBe(decision?.outcome);
    if (decision?.outcome === 'undecided') throw new Error('undecided');
    expect(jobs[0]?.costMicros).toBe(decision?.terms?.costMicros);
  }
});

test('nothing is held, and asking twice is answered alike', async () => {
  const house = await live();
  const first = await house.check({});
  expect(await house.check({})).toEqual(first);
  const keys = [{ subject: 'group/104', limit: 'money-month', period: PERIOD }];
  expect((await house.ledger.readCounters(keys))[0]?.committed ?? 0).toBe(0);
});

test('a whole pipeline asks the sum of money, and of jobs at once its largest stage', async () => {
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

test('a pipeline that asks more than is left is told so, though each of its jobs would be admitted', async () => {
  const house = await live();
  const one = (await house.check({})).jobs[0]?.costMicros ?? 0;
  house.counts('group/104', 'money-month', PERIOD, 3_000_000 - one);
  const { jobs, limits } = await house.check({ project: 1, jobs: [{ ...unit, parallel: 2 }] }, 'viewer');
  expect(jobs[0]?.outcome).toBe('admitted');
  const cards = limits.find(({ subject, limit }) => subject === 'group/104' && limit === 'money-month');
  expect(cards).toMatchObject({ left: one, asked: 2 * one, fits: false, periodLabel: 'November 2026' });
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

test('somebody who sees the group is told its limits, and of one above as much as a rejection tells', async () => {
  const house = await live();
  const { limits, limitsHidden } = await house.check({ project: 'acme/payments/cards/api' }, 'viewer');
  expect(limits.map(({ subject }) => subject)).toEqual(['group/104', 'group/104', 'group/101', 'group/100']);
  expect(limitsHidden).toBe(0);
});

test.each<[string, Partial<AskedPipeline>, keyof typeof USERS]>([
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

test('a thousand jobs read each counter once', async () => {
  const house = await live();
  const before = house.reads.counters;
  const jobs = Array.from({ length: 1_000 }, (_, index) => ({ ...unit, name: `job ${index}` }));
  expect((await house.check({ jobs })).total.jobs).toBe(1_000);
  expect(house.reads.counters - before).toBeLessThanOrEqual(6);
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

test('a job that runs does not give its own slot to itself once more', async () => {
  const house = await live();
  await house.apply([{ kind: 'set', subject: 'group/104', unit: 'jobs', amount: 1 }]);
  await house.ask([aJob(4711, { image: 'alpine:3.22' })]);
  expect(await house.read.check({ rerun: 4711 }, USERS.job)).toMatchObject({
    pipeline: { jobs: [{ outcome: 'rejected', reasons: [{ rule: 'at-once' }] }] },
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

test('how long it will run may be said', async () => {
  const { check } = await live();
  const [short, long] = (
    await check({ jobs: [60, 600].map((estimateSeconds) => ({ ...unit, estimateSeconds })) })
  ).jobs;
  expect(long?.costMicros).toBe(10 * (short?.costMicros ?? 0));
});
