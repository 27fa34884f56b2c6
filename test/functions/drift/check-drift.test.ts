import { expect, test } from 'vitest';
import { checkDrift } from '../../../functions/drift/check-drift.ts';
import { readDriftConfig } from '../../../functions/drift/config.ts';
import type { CounterAmounts, RebuildOptions, RebuildReport } from '../../../functions/ledger/ledger.ts';
import type { Log, LogFields } from '../../../functions/shared/log.ts';

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

function checked(found: Pick<RebuildReport, 'drift'> & Partial<RebuildReport>) {
  const lines: { level: string; message: string; fields: LogFields }[] = [];
  const asked: RebuildOptions[] = [];
  const line =
    (level: string) =>
    (message: string, fields: LogFields = {}) => {
      lines.push({ level, message, fields });
    };
  const log: Log = { info: line('info'), warn: line('warn'), error: line('error') };
  const rebuild = async (options: RebuildOptions) => {
    asked.push(options);
    const report = {
      records: 40,
      counters: 3,
      repaired: 0,
      unproven: [],
      passedOver: 0,
      closed: 2,
      unclosed: 0,
    };
    return { ...report, ...found };
  };
  return { lines, asked, report: checkDrift({ ledger: { rebuild }, log }) };
}

test('books without drift are reported without an error', async () => {
  const { lines, report } = checked({ drift: [] });
  expect(await report).toEqual({
    records: 40,
    counters: 3,
    drifting: 0,
    closed: 2,
    unclosed: 0,
    unproven: 0,
    passedOver: 0,
  });
  expect(lines.map(({ level }) => level)).toEqual(['info']);
});

test('a check that passed items over says so, and never that there is no drift', async () => {
  const { lines, report } = checked({ drift: [], passedOver: 2 });
  expect(await report).toMatchObject({ drifting: 0, passedOver: 2 });
  expect(lines).toEqual([
    { level: 'error', message: 'items of a newer program passed over, nothing proven', fields: { items: 2 } },
  ]);
});

test('a drifting counter is an error that names it and both figures', async () => {
  const { lines, report } = checked({ drift: [drift('money-month')] });
  expect(await report).toMatchObject({ drifting: 1 });
  expect(lines[0]).toMatchObject({
    level: 'error',
    fields: { counter: 'group/101|money-month|2026-11', committed: 7, committedRecount: 5 },
  });
});

test('a check closes periods that are over and repairs nothing', async () => {
  const { asked, report } = checked({ drift: [drift('money-month')] });
  await report;
  expect(asked).toEqual([{ repair: false, close: true }]);
});

test('thousands of drifting counters are counted and do not fill the log', async () => {
  const { lines, report } = checked({
    drift: Array.from({ length: 5000 }, (_, index) => drift(`l${index}`)),
  });
  expect(await report).toMatchObject({ drifting: 5000 });
  expect(lines.length).toBeLessThan(30);
});

test('every setting that is missing is named at once', () => {
  expect(() => readDriftConfig({})).toThrow(
    '[config_invalid] TOLLGATE_LEDGER_TABLE is not set; TOLLGATE_GITLAB_INSTANCE is not set',
  );
  const env = { TOLLGATE_LEDGER_TABLE: 'books', TOLLGATE_GITLAB_INSTANCE: 'gitlab.corp.test' };
  expect(readDriftConfig(env)).toEqual({
    ledgerTable: 'books',
    gitlabInstance: 'gitlab.corp.test',
    zone: 'UTC',
    dynamodbEndpoint: undefined,
  });
});
