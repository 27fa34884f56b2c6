import { describe, expect, test } from 'vitest';
import type { Log, LogFields } from '../../../functions/core/environment/machine.ts';
import type { CounterAmounts, RebuildReport } from '../../../functions/core/ledger/ledger.ts';
import type { RecountOutcome } from '../../../functions/core/ledger/recount-outcome.ts';
import { readDriftConfig } from '../../../functions/drift/config.ts';
import { isRecountDue } from '../../../functions/drift/night.ts';
import { tellDrift } from '../../../functions/drift/tell-drift.ts';

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
  const all = { records: 40, counters: 3, unproven: [], passedOver: 0, unclosed: 0, ...found };
  return { lines, noted, report: tellDrift(all, NOW_MS, { outcomes, log }) };
}

test('books without drift are reported without an error', async () => {
  const { lines, report } = told({ drift: [] });
  expect(await report).toEqual({
    records: 40,
    counters: 3,
    drifting: 0,
    unclosed: 0,
    unproven: 0,
    passedOver: 0,
  });
  expect(lines.map(({ level }) => level)).toEqual(['info']);
});

test('a check that passed items over says so, and never that there is no drift', async () => {
  const { lines, report } = told({ drift: [], passedOver: 2 });
  expect(await report).toMatchObject({ drifting: 0, passedOver: 2 });
  expect(lines).toEqual([
    { level: 'error', message: 'items of a newer program passed over, nothing proven', fields: { items: 2 } },
  ]);
});

test('a drifting counter is an error that names it and both figures', async () => {
  const { lines, report } = told({ drift: [drift('money-month')] });
  expect(await report).toMatchObject({ drifting: 1 });
  expect(lines[0]).toMatchObject({
    level: 'error',
    fields: { counter: 'group/101|money-month|2026-11', committed: 7, committedRecount: 5 },
  });
});

test('what a check found is noted for whoever looks at a figure, and a failed note hides no drift', async () => {
  const { noted, report } = told({ drift: [drift('money-month')] });
  await report;
  const key = { subject: 'group/101', limit: 'money-month', period: '2026-11' };
  expect(noted).toEqual([
    { recountedAtMs: NOW_MS, drifting: [{ key, committed: 7, recounted: 5 }], unlisted: 0 },
  ]);
  const failing = told({ drift: [drift('unwritable')] });
  expect(await failing.report).toMatchObject({ drifting: 1 });
  expect(failing.lines.map(({ level }) => level)).toEqual(['error', 'error', 'error']);
});

describe('a recount is due', () => {
  const at = (day: number, hour: number, minute: number): number => Date.UTC(2026, 10, day, hour, minute);
  const clean = { records: 1, counters: 1, drift: [], unproven: [], passedOver: 0, unclosed: 0 };
  const due = (
    startedAtMs: number,
    nowMs: number,
    { doubtedAtMs, found }: { readonly doubtedAtMs?: number; readonly found?: Partial<typeof clean> } = {},
  ): boolean => isRecountDue({ startedAtMs, found: { ...clean, ...found } }, { doubtedAtMs, nowMs });

  test('once a week from 02:20 UTC on, and at once where there never was one', () => {
    expect(isRecountDue(undefined, { nowMs: at(20, 12, 0) })).toBe(true);
    expect(due(at(14, 2, 23), at(20, 23, 53))).toBe(false);
    expect(due(at(14, 2, 23), at(21, 2, 8))).toBe(false);
    expect(due(at(14, 2, 23), at(21, 2, 23))).toBe(true);
    // One that took until noon does not move the next.
    expect(due(at(14, 12, 8), at(21, 2, 23))).toBe(true);
  });

  test('the next night where the second sums left a doubt since the last one began', () => {
    const doubted = { doubtedAtMs: at(20, 9, 8) };
    expect(due(at(19, 2, 23), at(20, 9, 8), doubted)).toBe(true);
    expect(due(at(20, 2, 23), at(20, 9, 8), doubted)).toBe(false);
    expect(due(at(20, 2, 23), at(21, 2, 23), doubted)).toBe(true);
    expect(due(at(21, 2, 23), at(22, 2, 23), doubted)).toBe(false);
  });

  test('every night until one is clean', () => {
    for (const found of [{ passedOver: 1 }, { unclosed: 1 }]) {
      expect(due(at(20, 2, 23), at(20, 23, 53), { found })).toBe(false);
      expect(due(at(20, 2, 23), at(21, 2, 23), { found })).toBe(true);
    }
    const last = { startedAtMs: at(20, 2, 23), found: { ...clean, drift: [drift('money-month')] } };
    expect(isRecountDue(last, { nowMs: at(21, 2, 23) })).toBe(true);
  });
});

test('thousands of drifting counters are counted and do not fill the log', async () => {
  const { lines, report } = told({
    drift: Array.from({ length: 5000 }, (_, index) => drift(`l${index}`)),
  });
  expect(await report).toMatchObject({ drifting: 5000 });
  expect(lines.length).toBeLessThan(30);
});

test('every setting that is missing is named at once', () => {
  expect(() => readDriftConfig({})).toThrow(
    '[config_invalid] TOLLGATE_LEDGER_TABLE is not set; TOLLGATE_GITLAB_INSTANCE is not set; TOLLGATE_RULES_FILE is not set',
  );
  const env = {
    ...{ TOLLGATE_LEDGER_TABLE: 'books', TOLLGATE_GITLAB_INSTANCE: 'gitlab.corp.test' },
    TOLLGATE_RULES_FILE: 'rules.json',
  };
  expect(readDriftConfig(env)).toEqual({
    ledgerTable: 'books',
    rulesFile: 'rules.json',
    gitlabInstance: 'gitlab.corp.test',
    zone: 'UTC',
    dynamodbEndpoint: undefined,
  });
});
