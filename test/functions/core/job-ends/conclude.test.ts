import { expect, test } from 'vitest';
import type { GitLabJob } from '../../../../functions/core/gitlab/gitlab.ts';
import { chargeBypass } from '../../../../functions/core/job-ends/charge-bypass.ts';
import { newConcludeTally } from '../../../../functions/core/job-ends/conclude.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import type { JobState } from '../../../../functions/core/ledger/ledger.ts';
import { anAsk, claim, counter } from '../../../support/ledger/asks.ts';
import { endJobs } from '../../../support/ledger/end-jobs.ts';
import { aGitLabJob, type Books, books, ranFor, STARTED_MS } from '../../../support/ledger/gitlab-jobs.ts';

/** 600 held; a minute costs 60. */
const ask = anAsk(1, [
  claim('group/100', 600, 1_000),
  claim('group/100', 1, 10, { unit: 'jobs', counter: counter('group/100', 'at-once', 'now') }),
]);

const hold = ({ ledger, clock }: Books, one = ask) => ledger.hold([one], clock.monotonicMs() + 30_000);

/** Brings job 1 into a state. */
const INTO: Record<JobState | 'none', (house: Books) => Promise<unknown>> = {
  none: async () => {},
  HELD: (house) => hold(house),
  RUNNING: async (house) => {
    await hold(house);
    const held = await house.ledger.readRecord(1);
    if (held === undefined) throw new Error('job 1 was held and has no record');
    const record = { ...held, state: 'RUNNING', rev: held.rev + 1 } as const;
    await house.store.transact([{ kind: 'record', record, replaces: held }], {
      token: 't',
      timeoutMs: 1_000,
    });
  },
  SETTLED: async (house) => {
    await hold(house);
    await house.ledger.settle([{ jobId: 1, durationSeconds: 50, endedAtMs: STARTED_MS + 50_000 }]);
  },
  RELEASED: async (house) => {
    await hold(house);
    await house.ledger.release([{ jobId: 1, cause: 'canceled' }]);
  },
  EXPIRED: async (house) => {
    await hold(house);
    await house.ledger.expire([{ jobId: 1, cause: '404', charge: 'nothing' }]);
  },
  REJECTED: (house) => hold(house, { ...ask, claims: [claim('group/100', 600, 500)] }),
  RESERVED: async ({ ledger, clock }) => {
    const [money, slots] = ask.claims;
    if (money === undefined || slots === undefined) throw new Error('the job asks for money and a slot');
    const full = { ...ask, jobId: 0, claims: [money, { ...slots, bound: 0 }] };
    await ledger.hold([full], clock.monotonicMs() + 30_000);
    const claims = [{ ...slots, bound: 10 }];
    await ledger.reserve({ jobId: 0, claims, untilMs: clock.nowMs() + 180_000 });
    await ledger.handOver(0, 1);
  },
};

const EVENTS = {
  pending: aGitLabJob(1, { status: 'pending' }),
  started: aGitLabJob(1, { status: 'running', runnerId: 12, startedAtMs: STARTED_MS }),
  finished: ranFor(1, 90),
  'failed after 90 s': ranFor(1, 90, { status: 'failed', failureReason: 'script_failure' }),
  'canceled after 90 s': ranFor(1, 90, { status: 'canceled' }),
  'canceled before start': aGitLabJob(1, { status: 'canceled', finishedAtMs: STARTED_MS }),
  'failed before start': aGitLabJob(1, { status: 'failed', durationSeconds: 0 }),
  skipped: aGitLabJob(1, { status: 'skipped' }),
  'rejected by the router': ranFor(1, 2, { status: 'failed', failureReason: 'job_router_failure' }),
  'ended without a word on when': aGitLabJob(1, { status: 'success' }),
  'started and ended without a word on when': aGitLabJob(1, { status: 'failed', startedAtMs: STARTED_MS }),
} satisfies Record<string, GitLabJob>;

type Event = keyof typeof EVENTS;

const RAN: readonly Event[] = ['finished', 'failed after 90 s', 'canceled after 90 s'];
const GONE: readonly Event[] = [
  'canceled before start',
  'failed before start',
  'skipped',
  'rejected by the router',
];
const OPEN: readonly Event[] = ['pending', 'started'];
const UNCLEAR: readonly Event[] = [
  'ended without a word on when',
  'started and ended without a word on when',
];

type Outcome = 'settled' | 'released' | 'corrected' | 'bypass' | 'kept';

/** What each state becomes, and what job 1 is charged in micro-units. */
const AFTER: Record<
  JobState | 'none',
  { before: number; ran: [Outcome, JobState, number]; gone: [Outcome, JobState | 'none', number] }
> = {
  // The rules charge 90 s at 0.10 a minute.
  none: { before: 0, ran: ['bypass', 'SETTLED', 150_000], gone: ['kept', 'none', 0] },
  HELD: { before: 600, ran: ['settled', 'SETTLED', 90], gone: ['released', 'RELEASED', 0] },
  RUNNING: { before: 600, ran: ['settled', 'SETTLED', 90], gone: ['released', 'RELEASED', 0] },
  // A webhook reported that it ran, which is not so.
  SETTLED: { before: 50, ran: ['corrected', 'SETTLED', 90], gone: ['corrected', 'SETTLED', 0] },
  RELEASED: { before: 0, ran: ['corrected', 'SETTLED', 90], gone: ['kept', 'RELEASED', 0] },
  EXPIRED: { before: 0, ran: ['corrected', 'SETTLED', 90], gone: ['kept', 'EXPIRED', 0] },
  REJECTED: { before: 0, ran: ['settled', 'SETTLED', 90], gone: ['kept', 'REJECTED', 0] },
  // Its reservation ends on its own.
  RESERVED: { before: 0, ran: ['settled', 'SETTLED', 90], gone: ['kept', 'RESERVED', 0] },
};

const isLive = (state: JobState | 'none'): boolean => state === 'HELD' || state === 'RUNNING';

const rows = Object.entries(AFTER).flatMap(([name, { before, ran, gone }]) => {
  const from = name as JobState | 'none';
  const unclear = isLive(from) ? (['settled', 'SETTLED', 600] as const) : (['kept', from, before] as const);
  return [
    ...RAN.map((event) => [from, event, ...ran] as const),
    ...GONE.map((event) => [from, event, ...gone] as const),
    ...OPEN.map((event) => [from, event, 'kept', from, before] as const),
    // Its estimate of 600 s is charged.
    ...UNCLEAR.map((event) => [from, event, ...unclear] as const),
  ];
});

test.each(rows)('%s, %s → %s, %s, charged %i', async (from, event, outcome, state, micros) => {
  const house = books();
  await INTO[from](house);
  // A job that the router failed was refused. A job that never started does not contradict its admission.
  const isYetFailed = event === 'rejected by the router' && outcome === 'released';
  expect(await endJobs([EVENTS[event]], house.deps)).toEqual({
    ...{ ...newConcludeTally(), kept: 0, [outcome]: 1 },
    admittedYetFailed: isYetFailed ? [1] : [],
  });
  expect((await house.ledger.readRecord(1))?.state ?? 'none').toBe(state);
  expect((await house.charged(1)).micros ?? 0).toBe(micros);
  // A job that ended takes no slot, whatever it is charged.
  const slots = (await house.charged(1)).jobs ?? 0;
  expect(slots).toBe(['HELD', 'RUNNING', 'RESERVED'].includes(state) ? 1 : 0);
  expect((await house.ledger.rebuild({ repair: false })).drift).toEqual([]);
  // Said again, nothing changes any more.
  const before = await house.ledger.readRecord(1);
  expect(await endJobs([EVENTS[event]], house.deps)).toEqual({ ...newConcludeTally(), kept: 1 });
  expect(await house.ledger.readRecord(1)).toEqual(before);
});

test('a job without a record that comes twice in a call is charged once', async () => {
  const house = books();
  await chargeBypass([ranFor(1, 90), ranFor(1, 90)], house.deps);
  expect(await house.charged(1)).toEqual({ micros: 150_000, jobs: 0 });
  expect((await house.ledger.rebuild({ repair: false })).drift).toEqual([]);
});

test('a job that is called running before the router asks is still judged by its limits', async () => {
  const house = books();
  await endJobs([EVENTS.started], house.deps);
  expect(await hold(house, { ...ask, claims: [claim('group/100', 600, 500)] })).toMatchObject([
    { outcome: 'rejected', repeated: false },
  ]);
});

test('an admission that commits between the two steps of a bypass is settled, not charged beside it', async () => {
  const house = books();
  const currentRules = async () => {
    await hold(house);
    return house.deps.currentRules([]);
  };
  await chargeBypass([EVENTS.finished], { ...house.deps, currentRules });
  expect(await house.ledger.readRecord(1)).toMatchObject({ state: 'SETTLED', answered: 'ledger' });
  expect(await house.charged(1)).toEqual({ micros: 90, jobs: 0 });
});

test('a bypass is charged to the counters its groups have by the rules, in the month it started in, and logged', async () => {
  const house = books();
  house.clock.advance(14 * 24 * 3_600_000);
  await chargeBypass([ranFor(1, 90, { runnerTags: ['docker'] })], house.deps);
  const record = await house.ledger.readRecord(1);
  expect(
    record?.claims.map(({ counter, unit, counted }) => [counter.subject, counter.period, unit, counted]),
  ).toEqual([
    ['group/100', '2026-11', 'micros', 150_000],
    ['group/101', 'now', 'jobs', 0],
  ]);
  expect(record).toMatchObject({
    unchecked: 'bypass',
    facts: { jobName: 'unit', projectId: 1001, rootId: 100, groupId: 101, pipelineId: 5000, userId: 7 },
  });
  expect(house.lines).toEqual([
    '{"message":"job ran without admission","jobId":1,"projectId":1001,"unknownGroup":false}',
  ]);
});

test('a table that does not answer leaves every end undecided, to be said again', async () => {
  let silent = true;
  const house = books({ fault: () => (silent ? { kind: 'lost-before' } : undefined) });
  const gitlabJobs = [ranFor(1, 90), aGitLabJob(2, { status: 'canceled' })];
  expect(await chargeBypass(gitlabJobs, house.deps)).toEqual(['undecided', 'never_ran']);
  const gone = { jobId: 2, cause: 'canceled' };
  expect(await house.ledger.release([gone])).toEqual(['undecided']);
  silent = false;
  expect(await chargeBypass([ranFor(1, 90)], house.deps)).toEqual(['bypass']);
});

test('rules that cannot be read hold up only the jobs that need them', async () => {
  const house = books();
  await hold(house);
  const currentRules = () => Promise.reject(new Error('no such file'));
  expect(await chargeBypass([ranFor(1, 90), ranFor(2, 90)], { ...house.deps, currentRules })).toEqual([
    'applied',
    'undecided',
  ]);
  expect(house.lines.join()).not.toContain('no such file');
});

test('a job at which the ledger throws fails alone', async () => {
  const house = books();
  await house.ledger.hold(
    [1, 2].map((jobId) => ({ ...ask, jobId })),
    house.clock.monotonicMs() + 30_000,
  );
  const ledger = createLedger({ store: house.store, clock: house.clock });
  const settle: typeof ledger.settle = async (ends) => {
    if (ends.some(({ jobId }) => jobId === 2)) throw new RangeError('boom');
    return ledger.settle(ends);
  };
  const deps = { ...house.deps, ledger: { ...ledger, settle } };
  expect(await chargeBypass([ranFor(2, 90), ranFor(1, 90)], deps)).toEqual(['failed', 'applied']);
  expect(house.lines).toEqual([
    '{"message":"end of job refused by the ledger","jobId":2,"error":"RangeError"}',
  ]);
});
