/** What every table must do with deliveries. Run on the in-memory table and on DynamoDB Local. */
import { expect, test } from 'vitest';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import type { InboxItem, InboxStore, LedgerStore } from '../../../functions/core/ledger/store.ts';

const WAIT = { timeoutMs: 300_000 };

const anItem = (id: string): InboxItem => ({
  id,
  body: '{"jobId":1}',
  receivedAtMs: Date.UTC(2026, 10, 21),
  // Far away: garbage collection is no part of the contract.
  untilMs: Date.UTC(2100, 0, 1),
});

export function inboxContract(newStore: (instance: string) => LedgerStore & InboxStore): void {
  let stores = 0;
  const build = (): LedgerStore & InboxStore => {
    stores += 1;
    return newStore(`inbox-${stores}.example.com`);
  };

  test('of many repetitions at once exactly one is written', async () => {
    const store = build();
    const firsts = await Promise.all(Array.from({ length: 8 }, () => store.receive(anItem('a'), WAIT)));
    expect(firsts.filter((first) => first)).toHaveLength(1);
  });

  test('ids are any text, and different ones are different deliveries', async () => {
    const store = build();
    const ids = ['a', 'A', 'a#b|c%', `${'long '.repeat(1_000)}`, 'ä'];
    for (const id of ids) expect(await store.receive(anItem(id), WAIT)).toBe(true);
    for (const id of ids) expect(await store.receive(anItem(id), WAIT)).toBe(false);
  });

  test('what arrived at one GitLab instance did not arrive at the other', async () => {
    expect([await build().receive(anItem('a'), WAIT), await build().receive(anItem('a'), WAIT)]).toEqual([
      true,
      true,
    ]);
  });

  test('deliveries are no part of the books', async () => {
    const store = build();
    await store.receive(anItem('a'), WAIT);
    const items: unknown[] = [];
    for await (const item of store.scan()) items.push(item);
    expect(items).toEqual([]);
    expect(await createLedger({ store }).rebuild({ repair: true })).toMatchObject({
      records: 0,
      counters: 0,
    });
  });
}
