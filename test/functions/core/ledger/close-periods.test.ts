/** Closing of periods that are due: which one is left for later, and until when. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { MemoryStore } from '../../../../functions/core/ledger/memory-store.ts';
import { createClosing, markDrift } from '../../../../functions/core/ledger/rebuild.ts';
import { recount } from '../../../../functions/core/ledger/recount.ts';
import { counterName } from '../../../../policies/claim.ts';
import { anAsk, claim } from '../../../support/ledger/asks.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';

const HOUR_MS = 3_600_000;
const AGAIN_MS = 6 * HOUR_MS;
const DAY_MS = 24 * HOUR_MS;

/** One job of last month; its period is due. */
async function house() {
  const clock = manualClock();
  const store = new MemoryStore({ instance: 'gitlab.example.com', clock });
  const ledger = createLedger({ store, clock, random: () => 0 });
  const key = claim('group/1', 10, 1_000).counter;
  await ledger.hold([anAsk(1, [claim('group/1', 10, 1_000)])], Number.POSITIVE_INFINITY);
  const settle = () => ledger.settle([{ jobId: 1, durationSeconds: 60, endedAtMs: clock.nowMs() }]);
  const closing = createClosing({ store, clock, random: () => 0 });
  const close = (leftMs = 60_000) => closing(clock.monotonicMs() + leftMs);
  const drift = () =>
    store.transact(
      [{ ...{ kind: 'counter', key, unchecked: {} }, ...{ committed: 5, fitted: 5, settled: 5 } }],
      { token: 'drift', timeoutMs: 1_000 },
    );
  /** As a round of the recount that found the drift. */
  const mark = async () => {
    const found = { drifted: [counterName(key)], unclosed: [] };
    await markDrift(await recount(store.scan()), found, {
      store,
      clock,
      random: () => 0,
      newToken: randomUUID,
    });
  };
  const isClosed = () => [...store.dump()].some(({ kind }) => kind === 'closing');
  return { clock, settle, close, drift, mark, isClosed };
}
const NONE = { closed: 0, waiting: 0, undecided: 0 };

test('a period with a live job is looked at again six hours later, and closed once the job has ended', async () => {
  const { clock, settle, close } = await house();
  clock.advance(46 * DAY_MS);
  expect(await close()).toEqual({ ...NONE, waiting: 1 });
  clock.advance(AGAIN_MS - 1_000);
  expect(await close()).toEqual(NONE);
  clock.advance(1_001);
  expect(await close()).toEqual({ ...NONE, waiting: 1 });
  await settle();
  clock.advance(AGAIN_MS + 1);
  expect(await close()).toEqual({ ...NONE, closed: 1 });
  clock.advance(AGAIN_MS + 1);
  expect(await close()).toEqual(NONE);
});

test('a period whose counter drifts is not closed, however often it is looked at', async () => {
  const { clock, settle, close, drift, mark, isClosed } = await house();
  await settle();
  await drift();
  await mark();
  clock.advance(46 * DAY_MS);
  for (let look = 0; look < 3; look += 1) {
    expect(await close()).toEqual({ ...NONE, waiting: 1 });
    clock.advance(AGAIN_MS + 1);
  }
  expect(isClosed()).toBe(false);
});

test('no period is begun once the time is over', async () => {
  const { clock, settle, close } = await house();
  await settle();
  clock.advance(46 * DAY_MS);
  expect(await close(0)).toEqual(NONE);
  expect(await close(1)).toEqual({ ...NONE, closed: 1 });
});
