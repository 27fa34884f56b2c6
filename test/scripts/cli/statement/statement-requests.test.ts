/** However many jobs a month had: its statement asks the table for the same, and is what the console's API says. */
import { expect, test } from 'vitest';
import { createConsoleRead } from '../../../../functions/answers/create-console-read.ts';
import type { Statement } from '../../../../functions/answers/statement/model.ts';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../../functions/core/ledger/dynamo-store.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import type { ItemTable } from '../../../../functions/core/store/operation.ts';
import { placeBy } from '../../../../functions/core/usage/contribution.ts';
import { rebuildUsage } from '../../../../functions/core/usage/count-records.ts';
import { DynamoRollupStore } from '../../../../functions/core/usage/rollup-store.ts';
import { type OpenLedger, openLedger } from '../../../../scripts/cli/open-ledger.ts';
import { consoleHouse, USERS } from '../../../functions/console/house.ts';
import { anAsk, claim, someFacts } from '../../../support/ledger/asks.ts';
import { listed } from '../desk-run.ts';
import { ledgerBench } from '../ledger-bench.ts';

const INSTANCE = 'gitlab.example.com';
const DAY_MS = 86_400_000;
const DAYS = 20;
const TIMEOUT_MS = 120_000;
const COUNTER = { subject: 'group/101', limit: 'money-month', period: '2026-12' };
const LIMITS = [{ on: { group: 101 }, money: 1_000_000, per: 'month' }];

/** December with so many jobs, each of them settled, on a table that counts what it is asked. */
async function december(jobs: number) {
  const bench = ledgerBench({ limits: LIMITS });
  const { clock } = bench;
  const memory = new MemoryTable();
  const found = { requests: 0 };
  const table: ItemTable = {
    tableName: memory.tableName,
    send: (name, operation) => {
      found.requests += 1;
      return memory.send(name, operation);
    },
  };
  const parts = { table, instance: INSTANCE, clock, random: () => 0 };
  const store = new DynamoStore(parts);
  const usage = new DynamoRollupStore(parts);
  const ledger = createLedger({ store, clock });
  clock.advance(Date.UTC(2026, 11, 2) - clock.nowMs());
  const facts = someFacts({
    rootId: 100,
    groupId: 101,
    groupIds: [100, 101],
    projectId: 1001,
    microsPerMinute: 7_001,
  });
  for (let day = 0; day < DAYS; day += 1) {
    const ids = Array.from({ length: jobs / DAYS }, (_, index) => 1 + day * (jobs / DAYS) + index);
    const asks = ids.map((id) =>
      anAsk(id, [claim('group/101', 5_000, undefined, { counter: COUNTER })], { facts }),
    );
    await ledger.hold(asks, clock.monotonicMs() + TIMEOUT_MS);
    await ledger.settle(
      ids.map((jobId) => ({ jobId, durationSeconds: 31 + (jobId % 9), endedAtMs: clock.nowMs() })),
    );
    clock.advance(DAY_MS);
  }
  await rebuildUsage(store.scan(), {
    store: usage,
    clock,
    random: () => 0,
    placeOf: placeBy(undefined, 'UTC'),
    log: silentLog,
  });
  const open: OpenLedger = async (flags, io) => ({
    ...(await bench.opening(store)(flags, io)),
    usage,
  });
  const run = async (...args: string[]) => {
    const { io, told } = bench.desk();
    found.requests = 0;
    const asked = ['--month', '2026-12', '--group', '101', '--json', ...args, ...bench.flags];
    expect(await listed('statement', [openLedger, open]).run(asked, io)).toBe(0);
    return { statement: JSON.parse(told.out) as Statement, requests: found.requests };
  };
  /** As a console answers, which reads no record. */
  const house = consoleHouse({ packed: { limits: LIMITS } });
  const read = createConsoleRead({
    ...house.deps,
    clock,
    books: { instance: INSTANCE, description: 'the test ledger', usage },
  });
  const byConsole = async (): Promise<Statement> => {
    const answer = await read.statement({ month: '2026-12', group: '101' }, USERS.finance);
    if (answer.outcome !== 'stated') throw new Error(answer.outcome);
    return answer.statement;
  };
  return { run, byConsole };
}

test(
  'a statement of 10 000 jobs asks the table as often as one of 100, and says what the API says',
  async () => {
    const [small, large] = [await december(100), await december(10_000)];
    const [few, many] = [await small.run(), await large.run()];
    expect(many.statement.totals.jobs).toBe(10_000);
    expect(few.statement.totals.jobs).toBe(100);
    expect(many.requests).toBe(few.requests);
    expect(few.requests).toBeGreaterThan(0);
    for (const [{ byConsole }, { statement }] of [
      [small, few],
      [large, many],
    ] as const) {
      const { totals, lines, notes } = await byConsole();
      expect(statement).toMatchObject({ totals, lines, notes });
    }
    // Who wants to know of each job is told the same sum, for as many reads as there are jobs.
    const byJob = await large.run('--by', 'job');
    expect(byJob.statement.totals.micros).toBe(many.statement.totals.micros);
    expect(byJob.statement.lines).toHaveLength(10_000);
    expect(byJob.requests).toBeGreaterThan(many.requests);
  },
  TIMEOUT_MS,
);
