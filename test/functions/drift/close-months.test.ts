/** Three months in virtual time: months close by themselves, one after the other, and what comes later goes forward only. */
import { expect, test } from 'vitest';
import { silentLog } from '../../../functions/core/environment/environment.ts';
import { dynamoSheetStore } from '../../../functions/core/sheets/sheet-store.ts';
import {
  type ClosedStatement,
  chainBreak,
  dynamoStatementChain,
  type SealedStatement,
} from '../../../functions/core/statements/closed-statement.ts';
import type { Key } from '../../../functions/core/store/keys.ts';
import { MemoryTable } from '../../../functions/core/store/memory-table.ts';
import { keyOf } from '../../../functions/core/store/operation.ts';
import { closeMonths } from '../../../functions/drift/close-months.ts';
import { packSheets } from '../../../functions/drift/pack-sheets.ts';
import { indexDirectory } from '../../../policies/directory.ts';
import { aJob, consoleHouse, LIMITS } from '../console/house.ts';

const DAY_MS = 86_400_000;
const INSTANCE = 'gitlab.example.com';
const BETA = { projectId: 2, projectPath: 'beta/ops/tools', namespaceId: 201, rootNamespaceId: 200 };
const SUBJECTS = ['group/100', 'group/200', 'instance'];

async function books() {
  const house = consoleHouse();
  const { clock, ledger, usage, directory, policy } = house;
  await house.apply(LIMITS);
  const table = new MemoryTable();
  const chain = dynamoStatementChain({ table, instance: INSTANCE });
  const sheets = dynamoSheetStore({ table, instance: INSTANCE, clock, random: () => 0 });
  const close = async (over: Partial<Parameters<typeof closeMonths>[1]> = {}, leftMs = 60_000) =>
    closeMonths(clock.monotonicMs() + leftMs, {
      ...{ chain, sheets, directory, clock, log: silentLog, instance: INSTANCE, usage },
      ...{ currency: policy.currency, prices: policy.prices, zone: 'UTC', fiscalStart: '01-01' },
      ...over,
    });
  const pack = () =>
    packSheets(clock.monotonicMs() + 60_000, {
      ...{ sheets, usage, clock, zone: 'UTC' },
      subjects: async () => ({ directory, classNames: ['small'] }),
    });
  /** Nights, up to the sixth day of a month of 2027. */
  const nightsUntil = async (month: number): Promise<void> => {
    const untilMs = Date.UTC(2027, month - 1, 7);
    while (clock.nowMs() < untilMs) {
      clock.advance(DAY_MS);
      await close();
    }
  };
  const settle = async (jobId: number, durationSeconds: number): Promise<void> => {
    await ledger.settle([{ jobId, durationSeconds, endedAtMs: clock.nowMs() }]);
    await house.roll();
  };
  const all = async (): Promise<readonly SealedStatement[]> =>
    (await Promise.all(SUBJECTS.map((subject) => chain.of(subject)))).flat();
  return { ...house, table, chain, close, pack, nightsUntil, settle, all };
}

const of = (sealedOnes: readonly SealedStatement[], subject: string, month: string): ClosedStatement => {
  const found = sealedOnes.find(
    ({ statement }) => statement.subject === subject && statement.month === month,
  );
  if (found === undefined) throw new Error(`${subject} ${month} is not closed`);
  return found.statement;
};

async function threeMonths() {
  const house = await books();
  const { ask, settle, nightsUntil, all } = house;
  // November: two jobs of cards, one of beta, one that still runs when the month closes.
  await ask([aJob(1), aJob(2), aJob(3, BETA), aJob(4)]);
  await settle(1, 600);
  await settle(2, 600);
  await settle(3, 600);
  house.clock.advance(10 * DAY_MS);
  await nightsUntil(0);
  const november = await all();
  // December: a job of its own, and two late truths about November.
  await ask([aJob(5)]);
  await settle(5, 60);
  await settle(1, 900);
  await settle(4, 300);
  await nightsUntil(1);
  const december = await all();
  // January: the same job of November once more, and nothing else.
  await settle(1, 1_200);
  await nightsUntil(2);
  return { ...house, november, december, january: await all() };
}

test('a closed month never changes: what is told later is an adjustment of the next one, and names month and jobs', async () => {
  const { november, december, january } = await threeMonths();
  for (const { statement, text } of november)
    expect(january.find((each) => each.statement.number === statement.number)?.text).toBe(text);
  const first = of(november, 'group/100', '2026-11');
  expect(first.totals).toMatchObject({ jobs: 2, adjustmentMicros: 0 });
  const price = first.totals.micros / 1200;
  const adjusted = { month: '2026-11', number: first.number, corrections: 1 };
  expect(of(december, 'group/100', '2026-12').adjustments).toEqual([
    { ...adjusted, jobs: 1, seconds: 600, micros: 600 * price },
  ]);
  expect(of(january, 'group/100', '2027-01').adjustments).toEqual([
    { ...adjusted, jobs: 0, seconds: 300, micros: 300 * price },
  ]);
  expect(of(january, 'group/200', '2027-01').adjustments).toEqual([]);
});

test('a statement names the group by its path, and by its last one after the group is deleted', async () => {
  const house = await books();
  await house.ask([aJob(1)]);
  await house.settle(1, 60);
  const named = (...paths: readonly string[]) =>
    indexDirectory(paths.map((path) => ({ id: 100, path, personal: false })));
  await house.pack();
  for (const directory of [named('acme'), named('acme-new'), named()]) {
    house.clock.advance(31 * DAY_MS);
    await house.close({ directory });
  }
  const groups = async (subject: string) =>
    (await house.chain.of(subject)).map(({ statement }) => statement.group);
  expect(await groups('group/100')).toEqual(['acme', 'acme-new', 'acme-new']);
  expect(new Set(await groups('instance'))).toEqual(new Set(['all groups']));
});

test.each(['text', 'gone'] as const)(
  'a statement whose %s was tampered with is found, the first one named',
  async (how) => {
    const { table, chain } = await threeMonths();
    const isFirst = ({ pk, sk }: Key): boolean => pk.endsWith('#of#group/100') && sk === '2026-11';
    const item = table.items().find((each) => isFirst(keyOf(each)));
    if (item === undefined) throw new Error('not closed');
    if (how === 'gone') await table.send('DeleteItem', { key: keyOf(item) });
    else {
      const text = { S: (item.tx?.S ?? '').replace('"jobs":2', '"jobs":3') };
      await table.send('PutItem', { kind: 'put', item: { ...item, tx: text } });
    }
    expect(chainBreak(await chain.of('group/100'))).toMatchObject(
      how === 'text' ? { month: '2026-11', cause: 'text' } : { month: '2026-12', cause: 'link' },
    );
  },
);

test('a group whose months cannot be read keeps no other open, is named in the log, and is tried again by the next run', async () => {
  const house = await books();
  await house.ask([aJob(1), aJob(3, BETA)]);
  await house.settle(1, 60);
  await house.settle(3, 60);
  house.clock.advance(20 * DAY_MS);
  const errors: object[] = [];
  const log = { ...silentLog, error: (_: string, fields?: object) => void errors.push({ ...fields }) };
  const usage = {
    readUsage: async (keys: Parameters<typeof house.usage.readUsage>[0]) => {
      if (keys[0]?.subject === 'group/100') throw new Error('not readable');
      return house.usage.readUsage(keys);
    },
  };
  expect(await house.close({ usage, log })).toEqual({ closed: 2, left: 0, failed: 1 });
  expect(errors).toEqual([{ subject: 'group/100', error: 'Error: not readable' }]);
  expect(await house.close()).toEqual({ closed: 1, left: 0, failed: 0 });
  expect((await house.chain.register()).last).toBe(3);
});
