import { expect, test } from 'vitest';
import type { Statement } from '../../../../functions/answers/statement/model.ts';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import { createClosing } from '../../../../functions/core/ledger/rebuild.ts';
import { placeBy } from '../../../../functions/core/usage/contribution.ts';
import { rebuildUsage } from '../../../../functions/core/usage/count-records.ts';
import { usageExpiresAtSeconds } from '../../../../functions/core/usage/rollup-store.ts';
import type { UsageKey, UsageTally } from '../../../../functions/core/usage/usage.ts';
import { type OpenLedger, openLedger } from '../../../../scripts/cli/open-ledger.ts';
import { MemoryRollupStore } from '../../../support/ledger/memory-rollup-store.ts';
import { listed } from '../desk-run.ts';
import { aRequest, ledgerBench } from '../ledger-bench.ts';

const DAY_MS = 86_400_000;
const BERLIN = 'Europe/Berlin';
const JANUARY_MS = Date.UTC(2027, 0, 10);

/** Days of usage are gone after their time, as DynamoDB would have it. */
class ExpiringUsage extends MemoryRollupStore {
  readonly #clock: { nowMs(): number };

  constructor(clock: { nowMs(): number }) {
    super({ instance: 'gitlab.example.com' });
    this.#clock = clock;
  }

  override async readUsage(keys: readonly UsageKey[]): Promise<readonly UsageTally[]> {
    const tallies = await super.readUsage(keys);
    return keys.map((key, index) => {
      const isGone = usageExpiresAtSeconds(key) * 1000 <= this.#clock.nowMs();
      return (isGone ? undefined : tallies[index]) ?? new Map();
    });
  }
}

/** Six weeks of jobs around December, some of them around midnight, one corrected in January. */
async function books(usageZone: string) {
  const bench = ledgerBench({
    policy: { rules: [{ id: 'budgets', kind: 'budget', mode: 'enforce' }] },
    limits: [{ on: { group: 101 }, money: 100_000, per: 'month', zone: BERLIN }],
  });
  const { clock, ledger, store } = bench;
  const usage = new ExpiringUsage(clock);
  const closePeriods = createClosing({ store, clock, random: () => 0 });
  const settle = (jobId: number, durationSeconds: number) =>
    ledger.settle([{ jobId, durationSeconds, endedAtMs: clock.nowMs() }]);
  for (let job = 1; clock.nowMs() < JANUARY_MS; job += 1) {
    await bench.ask([
      aRequest(job, job % 3 === 0 ? { projectId: 1002, projectPath: 'acme/payments/app' } : {}),
    ]);
    await settle(job, 100 + (job % 7));
    clock.advance(5.5 * 3_600_000);
  }
  await settle(60, 777);
  const placeOf = placeBy(undefined, usageZone);
  await rebuildUsage(store.dump(), { store: usage, clock, random: () => 0, placeOf, log: silentLog });
  /** Every week's garbage collection and closings. */
  const live = async (untilMs: number): Promise<void> => {
    while (clock.nowMs() < untilMs) {
      clock.advance(7 * DAY_MS);
      store.collectGarbage();
      await closePeriods(clock.monotonicMs() + 60_000);
    }
  };
  const unscanned = {
    ...{ transact: store.transact, announce: store.announce, due: store.due },
    ...{ readCounters: store.readCounters, readRecords: store.readRecords, readEntries: store.readEntries },
    scan: () => {
      throw new Error('nobody reads the whole table for a month of long ago');
    },
  };
  const december = async (long: 'by jobs' | 'kept', ...args: string[]): Promise<string> => {
    const open: OpenLedger = async (flags, io) => ({
      ...(await bench.opening(long === 'kept' ? unscanned : store)(flags, io)),
      usage,
    });
    const { io, told } = bench.desk();
    const how = long === 'by jobs' ? ['--with-prices'] : [];
    const month = args.includes('--month') ? [] : ['--month', '2026-12'];
    const asked = [...month, '--group', '101', ...how, ...args, ...bench.flags];
    const env = { TOLLGATE_ROLLUP_ZONE: usageZone };
    expect(await listed('statement', [openLedger, open]).run(asked, { ...io, env })).toBe(0);
    return told.out;
  };
  const json = async (...asked: Parameters<typeof december>): Promise<Statement> =>
    JSON.parse(await december(asked[0], '--json', ...asked.slice(1)));
  return { bench, live, december, json };
}

test.each([
  [BERLIN, 'as the limit has it'],
  ['UTC', 'the limit is in another zone'],
])(
  'a December that is asked for in the following autumn comes to what it came to in January (%s: %s)',
  async (usageZone) => {
    const { bench, live, json } = await books(usageZone);
    const before = await json('by jobs');
    expect(before.totals.correctedMicros).toBeGreaterThan(0);
    await live(Date.UTC(2027, 9, 1));
    expect([...bench.store.dump()].some(({ kind }) => kind === 'record')).toBe(false);
    const after = await json('kept');
    expect(after.totals.micros).toBe(before.totals.micros);
    expect(after.lines.reduce((sum, { micros }) => sum + micros, 0)).toBe(before.totals.micros);
    const { jobs, seconds } = before.totals;
    expect(after.totals).toMatchObject({ jobs, seconds });
  },
);

test('a month of long ago has no jobs, projects and prices', async () => {
  const { live, december } = await books(BERLIN);
  await live(Date.UTC(2027, 9, 1));
  for (const lacking of [
    ['--by', 'job'],
    ['--format', 'focus'],
  ])
    await expect(december('kept', ...lacking)).rejects.toThrow(/only its days are kept/);
});

test('a month that is not over for 90 days comes from its days, too, and jobs are read only where they are asked for', async () => {
  const { bench, json, december } = await books(BERLIN);
  bench.clock.advance(JANUARY_MS + 20 * DAY_MS - bench.clock.nowMs());
  const [days, jobs] = [await json('kept'), await json('by jobs')];
  expect(days.totals).toMatchObject({ micros: jobs.totals.micros, jobs: jobs.totals.jobs });
  expect(days.totals.micros).toBeGreaterThan(0);
  expect(new Set(days.lines.map(({ runnerClass }) => runnerClass))).toEqual(new Set(['']));
  expect(new Set(jobs.lines.map(({ projectPath }) => projectPath))).toEqual(
    new Set(['acme/payments/checkout', 'acme/payments/app']),
  );
  for (const each of [['--by', 'job'], ['--with-prices'], ['--format', 'focus']])
    await expect(december('kept', ...each)).rejects.toThrow(/nobody reads the whole table/);
});
