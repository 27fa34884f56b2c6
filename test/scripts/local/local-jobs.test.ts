import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { silentLog, systemClock } from '../../../functions/core/environment/machine.ts';
import { rulesInForce } from '../../../functions/core/rules/rules-in-force.ts';
import { eachRow } from '../../../functions/core/sheets/sheet-rows.ts';
import { openLocalLedger } from '../../../scripts/local/ledger-source.ts';
import { packLocalJobs } from '../../../scripts/local/local-jobs.ts';
import { parseOptions } from '../../../scripts/local/options.ts';
import { loadPastMonth, PAST_DAYS } from '../../../scripts/local/past-month.ts';
import { readLocalRules } from '../../../scripts/local/rules.ts';
import { FIRST_RUN_JOB_ID, firstJobId } from '../../../scripts/local/workload/past-jobs.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.parse('2026-12-01T12:00:00Z');

test('every made-up job of the days before a start has its name in what reports read, at what it cost', async () => {
  const options = parseOptions([], fileURLToPath(new URL('../../../', import.meta.url)));
  if (options === 'help') throw new Error('not asked for help');
  const rules = readLocalRules(options);
  const { directory } = rules;
  if (directory === undefined) throw new Error('the example has a directory');
  const place = { whose: () => ({ instance: 'gitlab.local' }), dataDir: '', memory: true, fresh: false };
  const ledger = await openLocalLedger({ ...place, clock: systemClock });
  const beside = { table: ledger.limits, ledger: ledger.ledger, clock: systemClock, log: silentLog };
  const troubles: string[] = [];
  const onTrouble = (text: string): void => void troubles.push(text);
  const { rulesFor } = rulesInForce(rules, beside);
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
