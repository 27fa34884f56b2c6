import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { silentLog, systemClock } from '../../../functions/core/environment/machine.ts';
import { RECOUNT_EVERY_MS } from '../../../functions/core/ledger/recount-outcome.ts';
import { rulesInForce } from '../../../functions/core/rules/rules-in-force.ts';
import { openLocalLedger } from '../../../scripts/local/ledger-source.ts';
import { recountLocalBooks } from '../../../scripts/local/local-recount.ts';
import { parseOptions } from '../../../scripts/local/options.ts';
import { loadPastMonth } from '../../../scripts/local/past-month.ts';
import { readLocalRules } from '../../../scripts/local/rules.ts';

const NOW_MS = Date.parse('2026-12-01T12:00:00Z');

async function monthOfJobs() {
  const options = parseOptions([], fileURLToPath(new URL('../../../', import.meta.url)));
  if (options === 'help') throw new Error('not asked for help');
  const rules = readLocalRules(options);
  const { directory } = rules;
  if (directory === undefined) throw new Error('the example has a directory');
  const place = { whose: () => ({ instance: 'gitlab.local' }), dataDir: '', memory: true, fresh: false };
  const ledger = await openLocalLedger({ ...place, clock: systemClock });
  const beside = { table: ledger.limits, ledger: ledger.ledger, clock: systemClock, log: silentLog };
  const troubles: string[] = [];
  const deps = { ledger, onTrouble: (text: string): void => void troubles.push(text) };
  const { rulesFor } = rulesInForce(rules, beside);
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
