/** The same races where the table's own conditions decide them: on DynamoDB Local. */
import { expect, test } from 'vitest';
import { decide } from '../../functions/core/admission/decide.ts';
import { silentLog, systemClock } from '../../functions/core/environment/environment.ts';
import { createLedger } from '../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../functions/core/ledger/dynamo-store.ts';
import { dynamoTable } from '../../functions/core/store/sdk-table.ts';
import { NOW_MS } from '../policies/documents.ts';
import { localTable } from '../support/ledger/local-table.ts';
import { aJob, count, type Documents, ONE, range, rulesOf, wordOf } from './world.ts';

const TABLE = 'pitfalls';
/** No absolute promise: the machine may be busy with others. */
const ANSWER_MS = 60_000;
const clock = { ...systemClock, nowMs: () => NOW_MS };

const local = localTable(TABLE);

/** Two programs on one table. */
function programs(instance: string, documents: Documents) {
  const rules = rulesOf(documents);
  const store = new DynamoStore({
    table: dynamoTable(local.client, TABLE),
    instance,
    clock,
    random: Math.random,
  });
  const ledgers = [0, 1].map(() => createLedger({ store, clock }));
  const [ledger = createLedger({ store, clock })] = ledgers;
  const ask = (job: ReturnType<typeof aJob>) =>
    decide([job], clock.monotonicMs() + ANSWER_MS, {
      ledger: ledgers[job.jobId % 2] ?? ledger,
      currentRules: async () => rules,
      clock,
      log: silentLog,
    });
  const committed = async (subject: string): Promise<number> =>
    (await ledger.readCounters([{ subject, limit: 'money-month', period: '2026-11' }]))[0]?.committed ?? 0;
  return { ask, committed, ledger };
}

type Ask = ReturnType<typeof programs>['ask'];

/** Asks for all jobs in parallel. Like the router, repeats those that stay undecided, here because of contention. */
async function askAll(ask: Ask, jobs: readonly ReturnType<typeof aJob>[]): Promise<readonly string[]> {
  const words = (await Promise.all(jobs.map(ask))).flat().map(wordOf);
  const undecided = jobs.filter((_, index) => words[index]?.startsWith('undecided'));
  expect(undecided.length, 'each round decides some').toBeLessThan(jobs.length);
  const decided = words.filter((word) => !word.startsWith('undecided'));
  return undecided.length === 0 ? decided : [...decided, ...(await askAll(ask, undecided))];
}

test('200 parallel admissions against a limit for 37: exactly 37, by the conditions of the table', async () => {
  const limits = [{ on: { group: 100 }, money: 37, per: 'month' }];
  const { ask, committed, ledger } = programs('thirty-seven.example.com', { limits });
  const words = await askAll(
    ask,
    range(1, 200).map((jobId) => aJob(jobId)),
  );
  expect([count(words, 'admitted'), count(words, 'BUDGET_EXHAUSTED')]).toEqual([37, 163]);
  expect(await committed('group/100')).toBe(37 * ONE);
  expect((await ledger.rebuild({ repair: false })).drift).toEqual([]);
});

test('two siblings racing for the parent: together they get what it has', async () => {
  const limits = [100, 101, 102].map((group) => ({
    on: { group },
    money: group === 100 ? 10 : 8,
    per: 'month',
  }));
  const { ask, committed } = programs('siblings.example.com', { limits });
  const jobs = range(1, 40).map((jobId) => aJob(jobId, { namespaceId: jobId % 4 < 2 ? 101 : 102 }));
  const words = await askAll(ask, jobs);
  const [one, two] = [await committed('group/101'), await committed('group/102')];
  expect([count(words, 'admitted'), await committed('group/100'), one + two]).toEqual([
    10,
    10 * ONE,
    10 * ONE,
  ]);
  expect(Math.max(one, two)).toBeLessThanOrEqual(8 * ONE);
});
