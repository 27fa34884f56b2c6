import { Hono } from 'hono';
import { systemClock } from '../../../functions/core/environment/index.ts';
import { dynamoClient, dynamoTable } from '../../../functions/core/store/index.ts';
import { DynamoRollupStore, usageOf } from '../../../functions/core/usage/index.ts';
import { directoryOf } from '../../../policies/place/directory.ts';
import { consoleHouse, USERS } from '../../../test/functions/console/house.ts';
import { ensureTable, javaAvailable, startDynamoDbLocal } from '../../local/dynamodb-local.ts';
import { type Figure, ratioOfRounds } from './figure.ts';

const MANY = 10_000;
const FEW = 1_000;
const ROWS = 50;
const ROUNDS = 7;
const PAGES_PER_ROUND = 3;
const CALLS_PER_ROUND = 20;
const DAYS = 31;
const PATH = `/api/v1/usage?subject=group/104&days=${DAYS}`;

/** The overview with ten thousand groups: exact reads, and its time beside one with a thousand. The API beside bare Hono. */
export async function consoleFigures(): Promise<readonly Figure[]> {
  const [many, few] = [await houseOf(MANY), await houseOf(FEW)];
  await many.page();
  const first = many.house.reads.calls;
  await many.page('50');
  const next = many.house.reads.calls - first;
  await few.page();
  const paged = await ratioOfRounds(ROUNDS, many.timed, few.timed);
  return [
    {
      name: `console: requests to the table for the first page of ${MANY} groups, nobody keeps copies`,
      value: first,
      must: { atMost: 235 },
      unit: 'tx',
      kind: 'count',
      note: 'counters of all budgets and of their period before, a hundred a request; once a minute for all viewers of a process',
    },
    {
      name: `console: requests to the table for the next page of ${MANY} groups, nobody keeps copies`,
      value: next,
      must: { atMost: 30 },
      unit: 'tx',
      kind: 'count',
      note: `${ROWS} rows, each with its counter and 57 days of usage: a trend takes eight weeks`,
    },
    {
      name: `console: a page of ${MANY} groups ÷ a page of ${FEW} (10 is linear)`,
      value: paged.median,
      must: { atMost: 10 },
      unit: '×',
      kind: 'ratio',
      range: paged.range,
      noisy: paged.noisy,
      note: 'both in memory, order known: what is left is to search and sort them',
    },
    ...(javaAvailable() ? [await apiFigure()] : []),
  ];
}

async function houseOf(count: number) {
  const groups = Array.from({ length: count }, (_, id) => ({
    id: id + 1,
    path: `g${id + 1}`,
    personal: false,
  }));
  const house = consoleHouse({ directory: directoryOf(groups) });
  const limits = groups.map(({ id }) => ({ on: { group: id }, money: 100, per: 'month' }));
  await house.apply([{ kind: 'replace', document: { limits } }]);
  for (let id = 1; id <= ROWS; id += 1) {
    // So that both show the same rows, with the same forecasts.
    house.counts(`group/${id}`, 'money-month', '2026-11', 50_000_000);
    for (let day = 1; day <= 20; day += 1)
      await house.used(`group/${id}`, `2026-11-${String(day).padStart(2, '0')}`, 1_000_000);
  }
  const page = (cursor?: string) =>
    house.read.overview({ max: ROWS, ...(cursor !== undefined && { cursor }) }, USERS.finance);
  const timed = async (): Promise<number> => {
    const startedMs = performance.now();
    for (let index = 0; index < PAGES_PER_ROUND; index += 1) await page();
    return performance.now() - startedMs;
  };
  return { house, page, timed };
}

async function apiFigure(): Promise<Figure> {
  const database = await startDynamoDbLocal();
  const client = dynamoClient(database.endpoint);
  try {
    const tableName = 'console';
    await ensureTable(client, tableName);
    const store = new DynamoRollupStore({
      table: dynamoTable(client, tableName),
      instance: 'gitlab.example.com',
      clock: systemClock,
      random: Math.random,
    });
    const house = consoleHouse({ usage: store });
    const keys = Array.from({ length: DAYS }, (_, index) => ({
      subject: 'group/104',
      day: new Date(Date.UTC(2026, 9, 22 + index)).toISOString().slice(0, 10),
    }));
    const bare = new Hono();
    bare.get('/api/v1/usage', async (c) => c.json((await store.readUsage(keys)).map(usageOf)));
    const api = house.appFor(USERS.viewer);
    const timed = (app: Hono) => async (): Promise<number> => {
      const startedMs = performance.now();
      for (let index = 0; index < CALLS_PER_ROUND; index += 1) await (await app.request(PATH)).text();
      return performance.now() - startedMs;
    };
    const [whole, floor] = [timed(api), timed(bare)];
    await whole();
    await floor();
    const { median, range, noisy } = await ratioOfRounds(ROUNDS, whole, floor);
    return {
      name: 'console: a read of the API ÷ bare Hono and one query',
      value: median,
      must: { atMost: 1.5 },
      unit: '×',
      kind: 'ratio',
      range,
      noisy,
      note: `${DAYS} days of usage from DynamoDB Local; roles, subtree, headers and checks are the difference`,
    };
  } finally {
    client.destroy();
    await database.stop();
  }
}
