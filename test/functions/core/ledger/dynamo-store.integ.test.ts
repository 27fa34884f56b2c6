import { describe, expect, test } from 'vitest';
import { type LedgerClock, systemClock } from '../../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../../functions/core/ledger/dynamo-store.ts';
import { dynamoPseudonymKeys, nameless } from '../../../../functions/core/ledger/user-ids.ts';
import { dynamoTable } from '../../../../functions/core/store/sdk-table.ts';
import { anAsk, claim, counter, wordOf } from '../../../support/ledger/asks.ts';
import { localTable } from '../../../support/ledger/local-table.ts';
import { ledgerContract } from './contract.ts';

const TABLE = 'ledger-contract';
const READ = { timeoutMs: 300_000 };

const local = localTable(TABLE);

const store = (instance: string, clock: LedgerClock): DynamoStore =>
  new DynamoStore({ table: dynamoTable(local.client, TABLE), instance, clock, random: Math.random });

ledgerContract(store);

describe('64 concurrent callers', () => {
  test('limit 150, 256 jobs each asked twice at once on two programs: exactly 150 are admitted', async () => {
    const instance = 'crowd.example.com';
    const ledgers = [0, 1].map(() => createLedger({ store: store(instance, systemClock) }));
    const admitted = new Set<number>();
    const answers = new Map<number, Set<string>>();
    let next = 0;

    const caller = async (): Promise<void> => {
      for (;;) {
        next += 1;
        const jobId = next;
        if (jobId > 256) return;
        const ask = anAsk(jobId, [
          claim('group/1', 1, 150),
          claim('group/2', 1, 300),
          claim('instance', 1, 600),
        ]);
        const both = await Promise.all(
          ledgers.map((ledger) => ledger.hold([ask], systemClock.monotonicMs() + 300_000)),
        );
        const words = both.map(([outcome]) => wordOf(outcome));
        answers.set(jobId, new Set(words));
        if (words.includes('admitted')) admitted.add(jobId);
      }
    };
    await Promise.all(Array.from({ length: 64 }, caller));

    expect([...answers.values()].filter((words) => words.size !== 1)).toEqual([]);
    expect(admitted.size).toBe(150);
    const [ledger] = ledgers;
    expect(await ledger?.readCounters([counter('group/1')])).toMatchObject([{ committed: 150, fitted: 150 }]);
    expect((await ledger?.rebuild({ repair: false }))?.drift).toEqual([]);
  });
});

describe('names of users', () => {
  const instance = 'names.example.com';
  const table = () => store(instance, systemClock);

  test('a record and its entries get another wording together, unless somebody wrote the record meanwhile', async () => {
    const ledger = createLedger({ store: table() });
    await ledger.hold([anAsk(1, [claim('user/7', 100)])], systemClock.monotonicMs() + 300_000);
    const end = { jobId: 1, endedAtMs: systemClock.nowMs() };
    await ledger.settle([{ ...end, durationSeconds: 60 }]);
    await ledger.settle([{ ...end, durationSeconds: 90 }]);
    const record = await ledger.readRecord(1);
    if (record === undefined) throw new Error('job 1 was settled and has no record');
    const entries = await table().readEntries(1, READ);
    const nameOf = () => '~x';
    const job = nameless({ record, entries }, nameOf, Date.UTC(2100, 0, 1));
    expect(await table().rewrite({ ...job.record, rev: 99 }, job.entries, READ)).toBe(false);
    expect(await table().rewrite(job.record, job.entries, READ)).toBe(true);
    expect(await ledger.readRecord(1)).toMatchObject({ claims: [{ counter: { subject: 'user/~x' } }] });
    const [entry] = await table().readEntries(1, READ);
    expect(entry?.deltas).toMatchObject([{ counter: { subject: 'user/~x' }, delta: 30 }]);
  });

  test('the key of a year is made once, however many ask for it first, and another year has another', async () => {
    const open = () => dynamoPseudonymKeys({ table: dynamoTable(local.client, TABLE), instance });
    expect(await open().find(2026)).toBeUndefined();
    const [key, same] = await Promise.all([open().keyOf(2026), open().keyOf(2026)]);
    expect(same).toEqual(key);
    expect(await open().find(2026)).toEqual(key);
    expect(await open().keyOf(2027)).not.toEqual(key);
  });
});
