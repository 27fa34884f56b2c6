/** Retries of jobs that were rejected for lack of slots. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { retryJob } from '../../../functions/core/gitlab/rest-gitlab.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../functions/core/ledger/dynamo-store.ts';
import { dynamoRequeueLists } from '../../../functions/core/requeue-list.ts';
import { MemoryTable } from '../../../functions/core/store/memory-table.ts';
import { DynamoRollupStore } from '../../../functions/core/usage/rollup-store.ts';
import { type RequeueDeps, requeue } from '../../../functions/requeue/requeue.ts';
import type { LimitClaim } from '../../../policies/claim.ts';
import { evaluate } from '../../../policies/evaluate.ts';
import type { Violation } from '../../../policies/reason.ts';
import { createLocalGitLab, type LocalGitLab } from '../../../scripts/local/gitlab/local-gitlab.ts';
import { aPolicy, someLimits, using } from '../../policies/documents.ts';
import { anAsk, claim, counter, someFacts } from '../../support/ledger/asks.ts';
import { type TestClock, testClock } from '../../support/ledger/test-clock.ts';

const TOKEN = 'glpat-of-payments';
const MINUTE_MS = 60_000;
/** Another job of the same pipeline. */
const NAMES: Readonly<Record<number, string>> = { 10: 'lint' };
const runner = { id: 7 };

const SLOTS = counter('group/101', 'jobs-now', 'now');
/** The limit behind {@link slot}. */
const SLOT = [{ on: { group: 101 }, jobs: 1 }];
const slot = claim('group/101', 1, 1, { counter: SLOTS, unit: 'jobs', rule: 'slots', class: 'capacity' });

const COHORT_OF_101 = { on: { group: 101 }, jobs: 1, cohort: 'ci' };
const COHORT_OF_102 = { on: { group: 102 }, jobs: 1, cohort: 'ci', borrow: 9 };

const table = new MemoryTable();
let instances = 0;
let gitlab: LocalGitLab;
let clock: TestClock;
let logged: string[];

beforeEach(() => {
  instances += 1;
  clock = testClock();
  logged = [];
  gitlab = createLocalGitLab({
    random: () => 0.5,
    token: 'an administrator’s',
    groupTokens: new Map([[TOKEN, 'acme/payments']]),
  });
});
afterEach(() => gitlab.stop());

function house(over: Partial<RequeueDeps> = {}, limits: readonly object[] = SLOT) {
  const options = { table, instance: `i${instances}`, clock, random: Math.random };
  const note = (message: string, fields?: object) => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const ledger = createLedger({ store: new DynamoStore(options), clock });
  const usage = new DynamoRollupStore(options);
  const lists = dynamoRequeueLists(options);
  const rules = using(aPolicy(), someLimits({ limits }));
  const deps: RequeueDeps = {
    rulesFor: async () => ({ directory: undefined, ...rules }),
    agreed: [{ groupId: 101, retries: 2, withinSeconds: 3_600, priority: 0 }],
    ...{ lists, usage, ledger, clock, log: { info: note, warn: note, error: note } },
    retry: (_groupId, projectId, jobId) =>
      retryJob(projectId, jobId, {
        baseUrl: 'http://gitlab.localhost',
        fetch: gitlab.fetch,
        token: async () => TOKEN,
        clock,
      }),
    ...over,
  };
  const ask = async (
    jobId: number,
    claims: readonly LimitClaim[] = [slot],
    violations: readonly Violation[] = [],
    groupId = 101,
  ): Promise<string> => {
    if (gitlab.job(jobId) === undefined)
      gitlab.create({ id: jobId, projectId: 1001, projectPath: 'acme/payments/api', name: 'build' });
    gitlab.start(jobId, runner);
    const facts = someFacts({
      ...{ projectId: 1001, rootId: 100, groupId, groupIds: [100, groupId] },
      ...{
        pipelineId: jobId < 200 ? 7 : jobId,
        jobName: NAMES[jobId] ?? (groupId === 101 ? 'build' : 'deploy'),
      },
    });
    const [outcome] = await ledger.hold(
      [anAsk(jobId, [...claims], { facts, violations, decidedAtMs: clock.nowMs() })],
      clock.monotonicMs() + 60_000,
    );
    if (outcome?.outcome !== 'rejected') return outcome?.outcome ?? 'none';
    gitlab.end(jobId, { status: 'failed', failureReason: 'job_router_failure' });
    const [listed] = await usage.readRejections(['group/101']);
    if (listed !== undefined)
      await usage.writeRejections({ ...listed, jobs: [{ jobId, atMs: clock.nowMs() }, ...listed.jobs] });
    return 'rejected';
  };
  /** A job of this group, with the claims that evaluation makes of the limits. */
  const askIn = (groupId: number, jobId: number): Promise<string> => {
    const request = { jobId, projectId: 1001, namespaceId: groupId, rootNamespaceId: 100 };
    const { claims, violations } = evaluate(request, { ...rules, nowMs: clock.nowMs() });
    return ask(jobId, claims, violations, groupId);
  };
  const endOf = async (jobId: number): Promise<void> => {
    gitlab.end(jobId, { status: 'success' });
    await ledger.settle([{ jobId, durationSeconds: 60, endedAtMs: clock.nowMs() }]);
  };
  return {
    ...{ deps, ask, askIn, endOf, ledger, run: () => requeue(deps) },
    entries: async () => (await lists.read(101)).entries,
    /** As the sweep ends reservations without a request in time. */
    sweep: async () => {
      const due = await ledger.dueJobs(clock.nowMs() + 1, 100);
      return ledger.endReservations(
        due.map(({ jobId }) => jobId),
        clock.nowMs(),
      );
    },
    taken: async () => (await ledger.readCounters([SLOTS]))[0],
  };
}

test('a full slot, a rejection, an end, a retry, an admission', async () => {
  const { ask, endOf, run, entries } = house();
  expect(await ask(1)).toBe('admitted');
  expect(await ask(2)).toBe('rejected');
  expect(await run()).toEqual({ waiting: 1, retried: 0, refused: 0 });
  await endOf(1);
  expect(await run()).toEqual({ waiting: 0, retried: 1, refused: 0 });
  expect(await entries()).toMatchObject([{ jobId: 2, state: 'retried', newJobId: 3, retries: 1 }]);
  expect(await ask(3)).toBe('admitted');
  expect(await run()).toEqual({ waiting: 0, retried: 0, refused: 0 });
  expect([...gitlab.jobs()].map(({ id }) => id)).toEqual([1, 2, 3]);
  expect(logged.join()).toContain('"newJobId":3');
  expect(logged.join()).not.toContain(TOKEN);
});

test('the retried job may be asked about before GitLab has said what it is called', async () => {
  const { deps, ask, endOf, entries, taken, ledger } = house();
  await ask(1);
  await ask(2);
  await endOf(1);
  const asked: string[] = [];
  await requeue({
    ...deps,
    retry: async (...which) => {
      const outcome = await deps.retry(...which);
      asked.push(await ask(10), await ask(3));
      return outcome;
    },
  });
  expect(asked).toEqual(['rejected', 'admitted']);
  expect(await entries()).toMatchObject([{ jobId: 2, state: 'retried', newJobId: 3 }]);
  const counter = await taken();
  expect([counter?.committed, counter?.reserved]).toEqual([1, undefined]);
  expect((await ledger.rebuild({ repair: false })).drift).toEqual([]);
});

test.each([
  ['of a cohort that others borrow', [COHORT_OF_101, COHORT_OF_102]],
  [
    'of what a cohort lends',
    [
      { ...COHORT_OF_101, jobs: 2, lend: 1 },
      { ...COHORT_OF_102, jobs: 2, lend: 1 },
    ],
  ],
])('the room %s is kept for the retried job as well, until its time is over', async (_what, limits) => {
  const { askIn, endOf, run, entries, sweep, ledger } = house({}, limits);
  const ask = async (groupId: number, ...jobIds: readonly number[]): Promise<readonly string[]> => {
    const words: string[] = [];
    for (const jobId of jobIds) words.push(await askIn(groupId, jobId));
    return words;
  };
  const kept = 'lend' in (limits[0] ?? {}) ? [await askIn(101, 1)] : [];
  const others = kept.length === 0 ? [11, 12] : [11, 12, 13];
  expect([...kept, ...(await ask(102, ...others))]).not.toContain('rejected');
  expect(await askIn(101, 20)).toBe('rejected');
  await endOf(12);
  // By then what the group wants back is not reclaimed any more: only what is kept for it is in a borrower's way.
  clock.advance(6 * MINUTE_MS);
  expect(await run()).toMatchObject({ retried: 1 });
  expect(await askIn(102, 30)).toBe('rejected');
  const [entry] = await entries();
  expect(await askIn(101, entry?.newJobId ?? 0)).toBe('admitted');
  expect((await ledger.rebuild({ repair: false })).drift).toEqual([]);

  await endOf(entry?.newJobId ?? 0);
  await endOf(11);
  expect(await ask(102, 31, 32)).toEqual(['admitted', 'admitted']);
  expect(await askIn(101, 40)).toBe('rejected');
  await endOf(32);
  clock.advance(6 * MINUTE_MS);
  expect(await run()).toMatchObject({ retried: 1 });
  expect(await askIn(102, 50)).toBe('rejected');
  clock.advance(11 * MINUTE_MS);
  await sweep();
  expect(await askIn(102, 51)).toBe('admitted');
  expect((await ledger.rebuild({ repair: false })).drift).toEqual([]);
});

test('a retry that GitLab refuses, or does not answer, leaves nothing kept', async () => {
  const { ask, endOf, run, taken } = house();
  await ask(1);
  await ask(2);
  await endOf(1);
  gitlab.faults.answerRest({ status: 503 });
  await run();
  expect((await taken())?.committed).toBe(0);
  gitlab.forget(2);
  clock.advance(3 * MINUTE_MS);
  expect(await run()).toMatchObject({ refused: 1 });
  const counter = await taken();
  expect([counter?.committed, counter?.reserved]).toEqual([0, undefined]);
});

test('a run that died after GitLab was asked, and comes again, makes no second job', async () => {
  const { deps, ask, endOf, run, entries } = house();
  await ask(1);
  await ask(2);
  await endOf(1);
  const dying = requeue({
    ...deps,
    retry: async (...asked) => {
      await deps.retry(...asked);
      throw new Error('killed');
    },
  });
  await expect(dying).rejects.toThrow('killed');
  expect(await entries()).toMatchObject([{ jobId: 2, state: 'retrying' }]);
  await run();
  expect([...gitlab.jobs()].map(({ id }) => id)).toEqual([1, 2, 3]);
  expect(await entries()).toMatchObject([{ jobId: 2, state: 'over', why: expect.stringContaining('403') }]);
});

test('a retried job that is rejected again is retried as often as the group allows, and no longer than it allows', async () => {
  const { ask, endOf, run, entries, sweep } = house();
  await ask(1);
  await ask(2);
  await endOf(1);
  await run();
  for (const [taker, retried] of [
    [10, 3],
    [20, 11],
  ] as const) {
    // No request comes in time, so the slot is another's.
    clock.advance(15 * MINUTE_MS);
    await sweep();
    await ask(taker);
    expect(await ask(retried)).toBe('rejected');
    await endOf(taker);
    await run();
  }
  expect((await entries()).map(({ jobId, state, retries }) => [jobId, state, retries])).toEqual([
    [2, 'retried', 1],
    [3, 'retried', 2],
    [11, 'over', 2],
  ]);
  await ask(30);
  await ask(31);
  await run();
  clock.advance(61 * MINUTE_MS);
  await endOf(30);
  expect(await run()).toMatchObject({ retried: 0 });
  expect((await entries()).at(-1)).toMatchObject({
    jobId: 31,
    state: 'over',
    why: 'no slot was free in time',
  });
});

test('a run retries twelve jobs, and the others wait for the next', async () => {
  const { askIn, endOf, run } = house({}, [{ on: { group: 101 }, jobs: 14 }]);
  const ids = Array.from({ length: 28 }, (_, at) => 201 + at);
  for (const id of ids) expect(await askIn(101, id)).toBe(id < 215 ? 'admitted' : 'rejected');
  for (const id of ids.slice(0, 14)) await endOf(id);
  expect(await run()).toEqual({ waiting: 2, retried: 12, refused: 0 });
  expect(await run()).toEqual({ waiting: 0, retried: 2, refused: 0 });
});

test('a rejection that is as old as the group allows is read, an older one is not, and none twice', async () => {
  const { deps, ask, run } = house();
  await ask(1);
  await ask(2);
  await run();
  const nowMs = clock.nowMs();
  const jobs = [
    { jobId: 2, atMs: nowMs },
    { jobId: 51, atMs: nowMs - 3_600_000 },
    { jobId: 52, atMs: nowMs - 3_600_001 },
  ];
  const read: (readonly number[])[] = [];
  await requeue({
    ...deps,
    usage: { readRejections: async () => [{ subject: 'group/101', jobs }] as never },
    ledger: {
      ...deps.ledger,
      readRecords: (jobIds) => {
        read.push(jobIds);
        return deps.ledger.readRecords(jobIds);
      },
    },
  });
  expect(read).toEqual([[51], [2]]);
});
