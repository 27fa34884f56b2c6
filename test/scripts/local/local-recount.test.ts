import { expect, test } from 'vitest';
import { systemClock } from '../../../functions/core/environment/machine.ts';
import { RECOUNT_EVERY_MS } from '../../../functions/core/ledger/recount-outcome.ts';
import { recountLocalBooks } from '../../../scripts/local/local-recount.ts';
import { loadPastMonth } from '../../../scripts/local/past-month.ts';
import { exampleLedger } from './example-ledger.ts';

const NOW_MS = Date.parse('2026-12-01T12:00:00Z');

async function monthOfJobs() {
  const { ledger, directory, rulesFor, troubles, onTrouble } = await exampleLedger();
  const deps = { ledger, onTrouble };
  await loadPastMonth({ ...deps, directory, zone: 'UTC', rulesFor, clock: systemClock, nowMs: NOW_MS });
  return { deps, troubles };
}

test('the counters of a made-up month are found to be what its jobs make, and looked at again after a week', async () => {
  const { deps, troubles } = await monthOfJobs();
  const recountedAt = async (nowMs: number) => {
    await recountLocalBooks({ ...deps, clock: { nowMs: () => nowMs } });
    return deps.ledger.recounts.read();
  };
  expect(await recountedAt(NOW_MS)).toEqual({ recountedAtMs: NOW_MS, drifting: [], unlisted: 0 });
  expect((await recountedAt(NOW_MS + RECOUNT_EVERY_MS - 1))?.recountedAtMs).toBe(NOW_MS);
  const weekLater = NOW_MS + RECOUNT_EVERY_MS;
  expect((await recountedAt(weekLater))?.recountedAtMs).toBe(weekLater);
  expect(troubles).toEqual([]);
});

test('books that cannot be read are told, and nothing is said of counters', async () => {
  const { deps, troubles } = await monthOfJobs();
  const rebuild = () => Promise.reject(new Error('no disk'));
  const ledger = { ...deps.ledger, ledger: { ...deps.ledger.ledger, rebuild } };
  await recountLocalBooks({ ...deps, ledger, clock: { nowMs: () => NOW_MS } });
  expect(troubles).toEqual([
    'counters are not compared with their jobs (Error: no disk); the next start tries again',
  ]);
  expect(await deps.ledger.recounts.read()).toBeUndefined();
});
