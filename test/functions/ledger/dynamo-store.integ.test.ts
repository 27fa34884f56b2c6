import { describe, expect, test } from 'vitest';
import { createLedger } from '../../../functions/ledger/create-ledger.ts';
import { DynamoStore } from '../../../functions/ledger/dynamo-store.ts';
import type { LedgerClock } from '../../../functions/ledger/ledger.ts';
import { systemClock } from '../../../functions/ledger/system-clock.ts';
import { anAsk, claim, counter, wordOf } from '../../support/ledger/asks.ts';
import { localTable } from '../../support/ledger/local-table.ts';
import { ledgerContract } from './contract.ts';

const TABLE = 'ledger-contract';

const local = localTable(TABLE);

const store = (instance: string, clock: LedgerClock): DynamoStore =>
  new DynamoStore({ client: local.client, tableName: TABLE, instance, clock, random: Math.random });

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
