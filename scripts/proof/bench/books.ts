import { readDays, today } from '../../../functions/answers/reading/usage-days.ts';
import { billedDays } from '../../../functions/answers/statement/billed-days.ts';
import { monthOfDay } from '../../../functions/answers/statement/month.ts';
import { usageView } from '../../../functions/answers/usage/usage-view.ts';
import { silentLog } from '../../../functions/core/environment/index.ts';
import { createLedger, DynamoStore } from '../../../functions/core/ledger/index.ts';
import {
  type Answers,
  type Item,
  type ItemTable,
  itemBytes,
  ledgerKeys,
  MemoryTable,
  type Operations,
  versioned,
} from '../../../functions/core/store/index.ts';
import { dynamoAlertRecords } from '../../../functions/core/thresholds/alert-records.ts';
import { findLimit } from '../../../functions/core/thresholds/levels.ts';
import { alertOwners } from '../../../functions/core/thresholds/threshold-alerts.ts';
import { DynamoRollupStore } from '../../../functions/core/usage/index.ts';
import { dailyUseOf } from '../../../functions/rollup/daily-use.ts';
import { parseLimits } from '../../../policies/document/parse-limits.ts';
import { problemText } from '../../../policies/document/parsed.ts';
import { CALENDAR_YEAR } from '../../../policies/limits/fiscal.ts';
import { periodAt } from '../../../policies/limits/period.ts';
import { directoryOf } from '../../../policies/place/directory.ts';
import { handClock } from '../../local/clock/hand-clock.ts';
import { benchRules } from './bench-rules.ts';
import type { Figure } from './figure.ts';
import { recountFigures } from './recount-bench.ts';

const INSTANCE = 'gitlab.example.com';
const NOW_MS = Date.UTC(2026, 10, 21, 12);
const MILLION = 1_000_000;
const SIZES = [1, 10, 100] as const;
const SUBJECT = 'group/101';
const MICROS_PER_JOB = 6_000;
const DAYS = 30;
const LIMITS = 100;
const RECORD_BYTES = 1024;
const UNIT_BYTES = 4096;

const { policy } = benchRules(1);

/** Counts read units. A scan would meet every record there is, so it costs what they do, whether they are there or not. */
class CountedTable implements ItemTable {
  readonly tableName = 'counted';
  units = 0;
  readonly #table = new MemoryTable();
  readonly #jobs: number;

  constructor(jobs: number) {
    this.#jobs = jobs;
  }

  async send<Name extends keyof Operations>(name: Name, operation: Operations[Name]): Promise<Answers[Name]> {
    const answer = await this.#table.send(name, operation);
    const consistent = !('consistent' in operation) || operation.consistent;
    const read = (items: readonly Item[], of: number): void => {
      this.units +=
        Math.max(1, Math.ceil(items.reduce((sum, item) => sum + bytesOf(item), 0) / of)) /
        (consistent ? 1 : 2);
    };
    if (name === 'Scan') this.units += (this.#jobs * RECORD_BYTES) / UNIT_BYTES / (consistent ? 1 : 2);
    if (name === 'Query') read((answer as Answers['Query']).items, UNIT_BYTES);
    if (name === 'GetItem') read([(answer as Answers['GetItem']) ?? {}], UNIT_BYTES);
    if (name === 'BatchGetItem') {
      const { items } = answer as Answers['BatchGetItem'];
      for (const item of items) read([item], UNIT_BYTES);
      this.units += (operation as Operations['BatchGetItem']).keys.length - items.length;
    }
    return answer;
  }
}

const bytesOf = (item: Item): number =>
  Object.entries(item).reduce(
    (sum, [name, value]) =>
      sum + (value.B === undefined ? itemBytes({ [name]: value }) : name.length + value.B.length),
    0,
  );

/** A month of so many jobs in usage and on counters. */
async function monthOf(jobs: number) {
  const table = new CountedTable(jobs);
  const deps = { table, instance: INSTANCE, clock: handClock(NOW_MS), random: () => 0 };
  const usage = new DynamoRollupStore(deps);
  const month = periodAt('month', 'UTC', NOW_MS);
  const perDay = Math.round(jobs / DAYS);
  const tally = new Map([
    ['jobs', perDay],
    ['admitted', perDay],
    ['seconds', perDay * 60],
    ['settledMicros', perDay * MICROS_PER_JOB],
  ]);
  const days = Array.from({ length: DAYS }, (_, day) => `2026-11-${String(day + 1).padStart(2, '0')}`);
  await usage.commit({
    contributions: [],
    usage: days.map((day) => ({ key: { subject: SUBJECT, day }, delta: tally })),
  });
  const keys = ledgerKeys(INSTANCE);
  const amount = jobs * MICROS_PER_JOB;
  for (let limit = 0; limit < LIMITS; limit += 1) {
    const key = { subject: `group/${101 + limit}`, limit: 'money-month', period: month.key };
    const add = { c: amount, f: amount, s: amount, r: jobs };
    await table.send('UpdateItem', { kind: 'update', key: keys.counter(key), setIfAbsent: versioned, add });
  }
  return {
    table,
    deps,
    usage,
    counters: Array.from({ length: LIMITS }, (_, at) => ({
      subject: `group/${101 + at}`,
      limit: 'money-month',
      period: month.key,
    })),
  };
}

type House = Awaited<ReturnType<typeof monthOf>>;

const READERS: Readonly<Record<string, (house: House) => Promise<unknown>>> = {
  'a month’s statement': ({ usage }) =>
    billedDays(SUBJECT, monthOfDay(today('UTC', NOW_MS), CALENDAR_YEAR), usage),
  'the counters of a page of 100 limits': ({ deps, counters }) =>
    new DynamoStore(deps).readCounters(counters, { timeoutMs: 1_000 }),
  'a page of usage': async ({ usage }) => {
    const to = today('UTC', NOW_MS);
    const span = { from: to - 27, to };
    const days = (await readDays([SUBJECT], span, usage)).get(SUBJECT) ?? [];
    return usageView(SUBJECT, days, span, {
      directory: directoryOf([]),
      policy,
      store: usage,
    });
  },
  [`the warnings of ${LIMITS} limits that reach 90 %`]: warnOwners,
};

/** Sends each alert with its forecast; the table says which alerts are new. */
async function warnOwners({ deps, usage, counters }: House): Promise<void> {
  const store = new DynamoStore(deps);
  const found = await store.readCounters(counters, { timeoutMs: 1_000 });
  const limits = parseLimits(
    {
      limits: found.flatMap((counter, at) => {
        const money = Math.floor((counter?.committed ?? 0) / 910_000);
        return { on: { group: 101 + at }, money, per: 'month', thresholds: [90], zone: 'UTC' };
      }),
    },
    'bench',
    policy,
    directoryOf([]),
  );
  if (!limits.ok) throw new Error(limits.problems.map(problemText).join(', '));
  let messages = 0;
  const { sent } = await alertOwners(
    found.filter((counter) => counter !== undefined),
    {
      ledger: createLedger({ store, clock: deps.clock }),
      findLimit: async (key) => findLimit(key, limits.value, undefined, deps.clock.nowMs()),
      records: dynamoAlertRecords(deps),
      notify: {
        send: async () => {
          messages += 1;
        },
      },
      ...{ clock: deps.clock, currency: 'EUR', log: silentLog },
      readDailyUse: dailyUseOf({ store: usage, zone: 'UTC', clock: deps.clock }),
    },
  );
  if (sent < LIMITS || messages === 0) throw new Error(`${sent} of ${LIMITS} owners were alerted`);
}

/** What a reader reads must not grow with the jobs that a month has. */
export async function booksFigures(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const [name, reader] of Object.entries(READERS)) {
    const units: number[] = [];
    for (const millions of SIZES) {
      const house = await monthOf(millions * MILLION);
      house.table.units = 0;
      await reader(house);
      units.push(house.table.units);
    }
    figures.push({
      ...{ name: `read units of ${name} at 100 million jobs ÷ at 1 million`, kind: 'count', unit: '×' },
      value: (units.at(-1) ?? Number.NaN) / (units[0] ?? Number.NaN),
      must: { atMost: 1 },
      note: `${units.join(', ')} units at 1, 10 and 100 million`,
    });
  }
  return [...figures, ...(await recountFigures())];
}
