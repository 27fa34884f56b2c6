import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { rulesInForce } from '../../../functions/admit/rules-in-force.ts';
import { systemClock } from '../../../functions/ledger/system-clock.ts';
import { silentLog } from '../../../functions/shared/log.ts';
import { counterOf, limitsOn } from '../../../policies/limits/limits.ts';
import { openLocalLedger } from '../../../scripts/local/ledger-source.ts';
import { parseOptions, UsageError } from '../../../scripts/local/options.ts';
import { loadPastMonth, PAST_DAYS } from '../../../scripts/local/past-month.ts';
import { readRules } from '../../../scripts/local/rules.ts';
import { startUsageCounter } from '../../../scripts/local/usage-counter.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const DAY_MS = 86_400_000;
/** All 30 days before it are of one month in Berlin. */
const NOW_MS = Date.parse('2026-12-01T00:30:00Z');
const NOVEMBER_MS = NOW_MS - DAY_MS;
const ZONE = 'Europe/Berlin';

async function month() {
  const options = parseOptions([], ROOT);
  if (options === 'help') throw new Error('not asked for help');
  const rules = readRules(options);
  const { directory } = rules;
  if (directory === undefined) throw new Error('the example has a directory');
  const place = { instance: 'gitlab.local', dataDir: '', memory: true, fresh: false };
  const ledger = await openLocalLedger({ ...place, clock: systemClock });
  const { rulesFor } = rulesInForce(rules, {
    table: ledger.limits,
    ledger: ledger.ledger,
    clock: systemClock,
    log: silentLog,
  });
  const troubles: string[] = [];
  const onTrouble = (text: string): void => void troubles.push(text);
  const usage = startUsageCounter({ ledger, directory, zone: ZONE, clock: systemClock, onTrouble });
  const load = (nowMs: number) => loadPastMonth({ ledger, rulesFor, directory, nowMs });
  const spent = async (): Promise<number> => {
    const [limit] = limitsOn(rules.limits, 'group/101');
    if (limit === undefined) throw new Error('acme/payments has a budget');
    const [counter] = await ledger.ledger.readCounters([counterOf(limit, NOVEMBER_MS)]);
    return counter?.settled ?? 0;
  };
  const counted = async (): Promise<number> => {
    await usage.idle();
    const days = Array.from({ length: PAST_DAYS }, (_, day) =>
      new Date(NOVEMBER_MS - day * DAY_MS).toISOString().slice(0, 10),
    );
    const tallies = await ledger.usage.readUsage(days.map((day) => ({ subject: 'group/101', day })));
    return tallies.reduce((sum, tally) => sum + (tally.get('settledMicros') ?? 0), 0);
  };
  return { load, spent, counted, troubles };
}

test('what the loaded month spent is what its usage by day adds up to, within the budget', async () => {
  const { load, spent, counted, troubles } = await month();
  const { jobIds } = await load(NOW_MS);
  expect(jobIds.length).toBeGreaterThan(500);
  expect(await spent()).toBeGreaterThan(3_000_000);
  expect(await spent()).toBeLessThanOrEqual(7_500_000);
  expect(await counted()).toBe(await spent());
  expect(troubles).toEqual([]);
});

test('a month that is there is not loaded again, and a day later only that day is', async () => {
  const { load, spent, counted } = await month();
  await load(NOW_MS);
  const before = [await spent(), await counted()];
  expect((await load(NOW_MS)).jobIds).toEqual([]);
  expect([await spent(), await counted()]).toEqual(before);
  const { jobIds } = await load(NOW_MS + DAY_MS);
  expect(new Set(jobIds.map((jobId) => Math.floor(jobId / 1_000))).size).toBe(1);
});

test.each([
  ['--json', '--console', '--json'],
  ['--router', '--console', '--router', 'wss://kas.example.com', '--token-file', 'token'],
])('the console is refused where nobody looks at it: with %s', (flag, ...args) => {
  expect(() => parseOptions(args, ROOT)).toThrow(UsageError);
  expect(() => parseOptions(args, ROOT)).toThrow(`--console has no meaning with ${flag}`);
});
