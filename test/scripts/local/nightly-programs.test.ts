import { expect, test } from 'vitest';
import { systemClock } from '../../../functions/core/environment/environment.ts';
import { eachRow } from '../../../functions/core/sheets/sheet-rows.ts';
import { FIRST_RUN_JOB_ID, firstJobId, loadPastMonth, PAST_DAYS } from '../../../scripts/local/past-month.ts';
import { packLocalJobs, recountLocalLedger } from '../../../scripts/local/run-console.ts';
import { exampleLedger } from './example-ledger.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.parse('2026-12-01T12:00:00Z');

test('every made-up job of the days before a start has its name in what reports read, at what it cost', async () => {
  const { ledger, directory, rulesFor, troubles, onTrouble } = await exampleLedger();
  const deps = { ledger, directory, zone: 'UTC', onTrouble };
  await loadPastMonth({ ...deps, rulesFor, clock: systemClock, nowMs: NOW_MS });
  const knownJobIds = [FIRST_RUN_JOB_ID, firstJobId(NOW_MS / DAY_MS - 0.5)];
  const clock = { nowMs: () => NOW_MS, monotonicMs: () => 0 };
  await packLocalJobs({ ...deps, clock, knownJobIds });
  expect(troubles).toEqual([]);
  const days = Array.from({ length: PAST_DAYS - 1 }, (_, back) =>
    new Date(NOW_MS - (back + 1) * DAY_MS).toISOString().slice(0, 10),
  );
  const sheets = await ledger.sheets.read(days.map((span) => ({ kind: 'job', span })));
  const tallies = await ledger.usage.readUsage(days.map((day) => ({ subject: 'instance', day })));
  const packed = sheets.map((sheet) => {
    let micros = 0;
    if (sheet !== undefined)
      eachRow(sheet.bytes, (_, [settled = 0]) => {
        micros += settled;
      });
    return micros;
  });
  expect(packed).toEqual(tallies.map((tally) => tally.get('settledMicros') ?? 0));
  expect(Math.min(...packed)).toBeGreaterThan(0);
});

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
