import { expect, test, vi } from 'vitest';
import { MemoryStore } from '../../../functions/core/ledger/memory-store.ts';
import type { Write } from '../../../functions/core/ledger/store.ts';
import { MemoryRollupStore } from '../../../functions/core/usage/memory-rollup-store.ts';
import { notifyingStore } from '../../../scripts/local/notifying-store.ts';
import { politeRollupStore } from '../../../scripts/local/polite-rollup-store.ts';

const WRITE = { token: 't', timeoutMs: 1_000 };
const counter = (which: number): Write => ({
  kind: 'counter',
  key: { subject: `group/${which}`, limit: 'money-month', period: '2026-11' },
  ...{ committed: 1, fitted: 1, settled: 0, unchecked: {} },
});

/** A table whose transactions end when told to. */
function slowTable() {
  const open: (() => void)[] = [];
  const schedule = (step: string): Promise<void> =>
    step === 'transact' ? new Promise((resolve) => open.push(resolve)) : Promise.resolve();
  return { ...notifyingStore(new MemoryStore({ instance: 'gitlab.local', schedule })), open };
}

test('what is in no hurry waits until the last transaction under way has ended', async () => {
  const { store, quiet, open } = slowTable();
  const said: string[] = [];
  const writes = [1, 2].map((which) =>
    store.transact([counter(which)], { ...WRITE, token: `t${which}` }).then(() => said.push('written')),
  );
  const turn = quiet(60_000).then(() => said.push('quiet'));
  open[0]?.();
  await writes[0];
  expect(said).toEqual(['written']);
  open[1]?.();
  await Promise.all([...writes, turn]);
  expect(said.toSorted()).toEqual(['quiet', 'written', 'written']);
});

test('where there is never a quiet moment its turn comes all the same', async () => {
  vi.useFakeTimers();
  try {
    const { store, quiet, open } = slowTable();
    const write = store.transact([counter(1)], WRITE);
    let turned = false;
    const turn = quiet(500).then(() => {
      turned = true;
    });
    await vi.advanceTimersByTimeAsync(499);
    expect(turned).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await turn;
    open[0]?.();
    await write;
  } finally {
    vi.useRealTimers();
  }
});

test('a transaction that failed is not under way any more', async () => {
  const inner = new MemoryStore({ instance: 'gitlab.local', fault: () => ({ kind: 'lost-before' }) });
  const { store, quiet } = notifyingStore(inner);
  await expect(store.transact([counter(1)], WRITE)).rejects.toThrow();
  await quiet(60_000);
});

test('every call of the polite store waits for its turn', async () => {
  const inner = new MemoryRollupStore({ instance: 'gitlab.local' });
  let turns = 0;
  const polite = politeRollupStore(inner, async () => {
    turns += 1;
  });
  await polite.readContributions([1]);
  const usage = [{ key: { subject: 'instance', day: '2026-11-21' }, delta: new Map([['j', 1]]) }];
  await polite.commit({ contributions: [], usage });
  await polite.readUsage([]);
  await polite.readEstimates([1]);
  await polite.writeEstimates(1, { history: new Map(), rev: 0 }, 0);
  await polite.readTop([]);
  await polite.writeTop({ key: { subject: 'instance', day: '2026-11-21' }, projects: [], rev: 0 });
  await polite.readRejections([]);
  await polite.writeRejections({ subject: 'instance', jobs: [], rev: 0 });
  expect(turns).toBe(9);
});
