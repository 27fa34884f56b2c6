import { expect, test } from 'vitest';
import { systemClock } from '../../../functions/core/environment/machine.ts';
import { recountLocalLedger } from '../../../scripts/local/nightly-programs.ts';
import { loadPastMonth } from '../../../scripts/local/past-month.ts';
import { exampleLedger } from './example-ledger.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.parse('2026-12-01T12:00:00Z');

async function monthOfJobs() {
  const { ledger, directory, rulesFor, troubles, onTrouble } = await exampleLedger();
  const deps = { ledger, onTrouble };
  await loadPastMonth({ ...deps, directory, zone: 'UTC', rulesFor, clock: systemClock, nowMs: NOW_MS });
  return { deps, troubles };
}

test('the counters of a made-up month are found to be what its jobs make, and compared again after a day', async () => {
  const { deps, troubles } = await monthOfJobs();
  const recountedAt = async (nowMs: number) => {
    await recountLocalLedger({ ...deps, clock: { nowMs: () => nowMs } });
    return deps.ledger.recounts.read();
  };
  expect(await recountedAt(NOW_MS)).toMatchObject({ recountedAtMs: NOW_MS, drifting: [], unlisted: 0 });
  expect((await recountedAt(NOW_MS + DAY_MS - 1))?.recountedAtMs).toBe(NOW_MS);
  const dayLater = NOW_MS + DAY_MS;
  expect((await recountedAt(dayLater))?.recountedAtMs).toBe(dayLater);
  expect(troubles).toEqual([]);
});

test('books that cannot be read are told, and nothing is said of counters', async () => {
  const { deps, troubles } = await monthOfJobs();
  const rebuild = () => Promise.reject(new Error('no disk'));
  const ledger = { ...deps.ledger, ledger: { ...deps.ledger.ledger, rebuild } };
  await recountLocalLedger({ ...deps, ledger, clock: { nowMs: () => NOW_MS } });
  expect(troubles).toEqual([
    'counters are not compared with their jobs (Error: no disk); the next start tries again',
  ]);
  expect(await deps.ledger.recounts.read()).toBeUndefined();
});
