import { expect, test } from 'vitest';
import { systemClock } from '../../../functions/core/environment/environment.ts';
import { eachRow } from '../../../functions/core/sheets/sheet-rows.ts';
import { sumCoverage } from '../../../functions/core/usage/sums.ts';
import { counterOf, limitsOn } from '../../../policies/limits/limits.ts';
import type { LocalLedger } from '../../../scripts/local/ledger-source.ts';
import {
  FIRST_RUN_JOB_ID,
  firstJobId,
  loadPastMonth,
  PAST_DAYS,
  PAST_RUNNERS,
} from '../../../scripts/local/past-month.ts';
import { closeLocalMonths, packLocalJobs, recountLocalLedger } from '../../../scripts/local/run-console.ts';
import { exampleLedger } from './example-ledger.ts';

const DAY_MS = 86_400_000;
/** All 30 days before it are of one month in Berlin. */
const NOW_MS = Date.parse('2026-12-01T00:30:00Z');
const NOVEMBER_MS = NOW_MS - DAY_MS;
const ZONE = 'Europe/Berlin';
const DAYS = Array.from({ length: PAST_DAYS }, (_, day) =>
  new Date(NOVEMBER_MS - day * DAY_MS).toISOString().slice(0, 10),
);

async function month() {
  const { rules, directory, ledger, rulesFor, troubles, onProblem } = await exampleLedger();
  const { store } = ledger;
  const deps = { rulesFor, directory, zone: ZONE, clock: systemClock, onProblem };
  const load = (nowMs: number, over: LocalLedger = ledger) => loadPastMonth({ ...deps, ledger: over, nowMs });
  const [limit] = limitsOn(rules.limits, 'group/101');
  if (limit === undefined) throw new Error('acme/payments has a budget');
  const budget = counterOf(limit, NOVEMBER_MS);
  const spent = async (subject = budget.subject): Promise<number> => {
    const [counter] = await ledger.ledger.readCounters([{ ...budget, subject }]);
    return counter?.settled ?? 0;
  };
  const counted = async (): Promise<number> => {
    const tallies = await ledger.usage.readUsage(DAYS.map((day) => ({ subject: 'group/101', day })));
    return tallies.reduce((sum, tally) => sum + (tally.get('settledMicros') ?? 0), 0);
  };
  const jobs = async (): Promise<number> => {
    let records = 0;
    for await (const item of store.scan()) if (item.kind === 'record') records += 1;
    return records;
  };
  const drift = async () => (await ledger.ledger.rebuild({ repair: false })).drift;
  const close = (nowMs: number) =>
    closeLocalMonths({
      ...{ ...deps, ledger, policy: rules.policy, limits: rules.limits },
      clock: { nowMs: () => nowMs, monotonicMs: () => 0 },
    });
  return { ledger, load, close, spent, counted, jobs, drift, troubles, onProblem };
}

test('what the loaded month spent is what usage by day, counters and reports add up to', async () => {
  const { load, ledger, spent, counted, jobs, drift, troubles, onProblem } = await month();
  const loaded = await load(NOW_MS);
  expect(loaded).toBeGreaterThan(400);
  expect(await jobs()).toBe(loaded);
  expect(await load(NOW_MS)).toBe(0);
  expect(await counted()).toBe(await spent());
  expect(await drift()).toEqual([]);

  const clock = { nowMs: () => NOW_MS, monotonicMs: () => 0 };
  const knownJobIds = [FIRST_RUN_JOB_ID, firstJobId(Math.floor(NOW_MS / DAY_MS))];
  await packLocalJobs({ ledger, zone: 'UTC', clock, onProblem, knownJobIds });
  const full = DAYS.slice(0, -1);
  const sheets = await ledger.sheets.read(full.map((span) => ({ kind: 'job', span })));
  const packed = sheets.map((sheet) => {
    let micros = 0;
    if (sheet !== undefined)
      eachRow(sheet.bytes, (_, [settled = 0]) => {
        micros += settled;
      });
    return micros;
  });
  const tallies = await ledger.usage.readUsage(full.map((day) => ({ subject: 'instance', day })));
  expect(packed).toEqual(tallies.map((tally) => tally.get('settledMicros') ?? 0));
  expect(Math.min(...packed)).toBeGreaterThan(0);

  const recountedAt = async (nowMs: number) => {
    await recountLocalLedger({ ledger, onProblem, clock: { nowMs: () => nowMs } });
    return ledger.recounts.read();
  };
  expect(await recountedAt(NOW_MS)).toMatchObject({ recountedAtMs: NOW_MS, drifting: [], unlisted: 0 });
  expect((await recountedAt(NOW_MS + DAY_MS - 1))?.recountedAtMs).toBe(NOW_MS);
  expect((await recountedAt(NOW_MS + DAY_MS))?.recountedAtMs).toBe(NOW_MS + DAY_MS);
  expect(troubles).toEqual([]);
});

test('most of the month was asked about; one runner never asks, one at times, and both are told', async () => {
  const { load, ledger } = await month();
  await load(NOW_MS);
  const keys = DAYS.map((day) => ({ subject: 'group/100', day }));
  const tallies = await ledger.usage.readUsage(keys);
  const { ran, unasked, runners } = sumCoverage(
    keys.map(({ day }, index) => ({ day, tally: tallies[index] ?? new Map() })),
  );
  expect(unasked / ran).toBeGreaterThan(0.02);
  expect(unasked / ran).toBeLessThan(0.15);
  const shares = [...runners].map(([runner, counts]) => [runner, counts.unasked / counts.ran] as const);
  expect(shares.filter(([, share]) => share === 1).map(([runner]) => runner)).toEqual([2012]);
  expect(shares.filter(([, share]) => share > 0 && share < 1).map(([runner]) => runner)).toEqual([2022]);
  expect(shares.every(([runner]) => typeof runner === 'number' && PAST_RUNNERS.has(runner))).toBe(true);
});

test('interrupted after two transactions, the next start makes it whole, and charges nothing twice', async () => {
  const whole = await month();
  await whole.load(NOW_MS);
  const cut = await month();
  let left = 2;
  const { store } = cut.ledger;
  const transact: typeof store.transact = async (some, options) => {
    left -= 1;
    if (left < 0) throw new Error('interrupted');
    return store.transact(some, options);
  };
  const dying = new Proxy(store, {
    get: (target, name) => {
      const value = name === 'transact' ? transact : Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  await expect(cut.load(NOW_MS, { ...cut.ledger, store: dying })).rejects.toThrow('interrupted');
  await cut.load(NOW_MS);
  expect([await cut.jobs(), await cut.spent()]).toEqual([await whole.jobs(), await whole.spent()]);
  expect(await cut.counted()).toBe(await cut.spent());
  expect(await cut.drift()).toEqual([]);
});

test('the month closes five days after its end, for what was spent in it, and once', async () => {
  const { load, close, spent, ledger, troubles } = await month();
  await load(NOW_MS);
  await close(NOW_MS + 4 * DAY_MS);
  expect((await ledger.chain.register()).last).toBe(0);
  await close(NOW_MS + 5 * DAY_MS);
  await close(NOW_MS + 6 * DAY_MS);
  const [company, ...more] = await ledger.chain.of('group/100');
  expect(more).toEqual([]);
  expect(company?.statement).toMatchObject({
    month: '2026-11',
    totals: { dueMicros: await spent('group/100') },
  });
  expect(await ledger.chain.of('group/101')).toEqual([]);
  expect(troubles).toEqual([]);
});
