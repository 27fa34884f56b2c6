import { expect, test } from 'vitest';
import type { Log, LogFields } from '../../../functions/core/environment/environment.ts';
import type { RecountOutcome } from '../../../functions/core/ledger/checkpoints.ts';
import type { CounterAmounts, RebuildReport } from '../../../functions/core/ledger/ledger.ts';
import { reportDrift } from '../../../functions/drift/recount.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 3, 10);

const amounts = (committed: number): CounterAmounts => ({
  committed,
  fitted: committed,
  settled: 0,
  unchecked: { exempt: 0, unmetered: 0, bypass: 0 },
});

const drift = (limit: string) => ({
  key: { subject: 'group/101', limit, period: '2026-11' },
  counter: amounts(7),
  recount: amounts(5),
});

function told(found: Pick<RebuildReport, 'drift'> & Partial<RebuildReport>) {
  const lines: { level: string; message: string; fields: LogFields }[] = [];
  const line =
    (level: string) =>
    (message: string, fields: LogFields = {}) => {
      lines.push({ level, message, fields });
    };
  const log: Log = { info: line('info'), warn: line('warn'), error: line('error') };
  const noted: RecountOutcome[] = [];
  const outcomes = {
    async write(outcome: RecountOutcome) {
      if (outcome.drifting.some(({ key }) => key.limit === 'unwritable')) throw new Error('no table');
      noted.push(outcome);
    },
  };
  const all = { records: 40, counters: 3, unproven: [], passedOver: 0, ...found };
  return { lines, noted, report: reportDrift(all, { startedAtMs: NOW_MS }, { outcomes, log }) };
}

test('a check that passed items over says so, and never that there is no drift', async () => {
  const { lines, report } = told({ drift: [], passedOver: 2 });
  expect(await report).toBe(0);
  expect(lines).toEqual([
    { level: 'error', message: 'items of a newer program passed over, nothing proven', fields: { items: 2 } },
  ]);
});

test('what a check found is noted for whoever looks at a figure, and a failed note hides no drift', async () => {
  const { noted, report } = told({ drift: [drift('money-month')] });
  await report;
  const key = { subject: 'group/101', limit: 'money-month', period: '2026-11' };
  expect(noted).toEqual([
    { recountedAtMs: NOW_MS, records: 40, drifting: [{ key, committed: 7, recounted: 5 }], unlisted: 0 },
  ]);
  const failing = told({ drift: [drift('unwritable')] });
  expect(await failing.report).toBe(1);
  expect(failing.lines.map(({ level }) => level)).toEqual(['error', 'error', 'error']);
});
