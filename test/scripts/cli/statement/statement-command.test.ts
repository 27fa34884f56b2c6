import { describe, expect, test } from 'vitest';
import type { Statement } from '../../../../functions/answers/statement/model.ts';
import { EXIT, UsageError } from '../../../../scripts/terminal/command.ts';
import { anAsk, claim, someFacts } from '../../../support/ledger/asks.ts';
import { aRequest, ledgerBench } from '../ledger-bench.ts';
import { focusProblems } from './focus-rules.ts';

const LIMITS = [
  { on: { group: 101 }, money: 100, per: 'month', zone: 'Europe/Berlin' },
  { on: { group: 100 }, minutes: 100_000, per: 'month' },
];
const EVIL = '=HYPERLINK("x"),\u202e';
const DAY_MS = 86_400_000;

/** Everything that can become of a job: settled, corrected twice (once late), bypass, unmetered, released, expired, open. */
async function house() {
  const bench = ledgerBench({
    policy: {
      rules: [
        { id: 'budgets', kind: 'budget', mode: 'enforce' },
        { id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:*'] },
      ],
    },
    limits: LIMITS,
  });
  const { ledger, clock } = bench;
  const settle = (jobId: number, durationSeconds: number) =>
    ledger.settle([{ jobId, durationSeconds, endedAtMs: clock.nowMs() }]);
  await bench.ask([
    aRequest(1, { jobName: EVIL }),
    aRequest(2),
    aRequest(3, { runnerTags: ['large'] }),
    aRequest(4),
    aRequest(5),
    aRequest(6),
    aRequest(7, { namespaceId: 102, projectId: 1002, projectPath: 'acme/platform/ops' }),
  ]);
  clock.advance(600_000);
  await settle(1, 61);
  clock.advance(1);
  await settle(1, 30);
  await settle(2, 600);
  await settle(3, 120);
  await ledger.release([{ jobId: 4, cause: 'canceled' }]);
  await ledger.expire([{ jobId: 5, cause: 'gone', charge: 'hold' }]);
  await settle(7, 60);
  // Rejected, and yet it ran.
  const [rejected] = await bench.ask([aRequest(8, { runnerTags: ['large'], image: 'ubuntu:26.04' })]);
  expect(rejected?.outcome).toBe('rejected');
  await settle(8, 45);
  // Answered without the ledger.
  const money = { subject: 'group/101', limit: 'money-month', period: '2026-11' };
  const facts = someFacts({ rootId: 100, groupId: 101, projectId: 1001, microsPerMinute: 100_000 });
  const ask = anAsk(10, [claim('group/101', 500_000, undefined, { counter: money })], { facts });
  const answer = { answered: 'admitted', cause: 'timeout', answeredAtMs: clock.nowMs() } as const;
  await ledger.recordUnmetered([{ ...ask, ...answer }], clock.monotonicMs() + 60_000);
  await settle(10, 90);
  // In Berlin it is December by now, in UTC it is not.
  clock.advance(Date.UTC(2026, 10, 30, 23, 30) - clock.nowMs());
  await bench.ask([aRequest(9)]);
  await settle(9, 600);
  clock.advance(10 * DAY_MS);
  await settle(2, 660);
  return bench;
}

const run = (bench: ReturnType<typeof ledgerBench>, ...args: string[]) =>
  bench.run('statement', args, { env: { TOLLGATE_ROLLUP_ZONE: 'Europe/Berlin' } });

const NOVEMBER = ['--month', '2026-11', '--group', 'acme/payments'];
const jsonOf = async (bench: ReturnType<typeof ledgerBench>, ...args: string[]): Promise<Statement> =>
  JSON.parse((await run(bench, '--json', ...args)).out);

const settledOf = async (bench: ReturnType<typeof ledgerBench>, period: string): Promise<number> =>
  (await bench.ledger.readCounters([{ subject: 'group/101', limit: 'money-month', period }]))[0]?.settled ??
  -1;

test('the total of each month is what the counter of that month has settled, where days and limit are of one zone', async () => {
  const bench = await house();
  for (const month of ['2026-11', '2026-12']) {
    const { zone, totals, lines } = await jsonOf(bench, '--month', month, '--group', '101');
    const settled = await settledOf(bench, month);
    expect(zone).toBe('Europe/Berlin');
    expect(settled).toBeGreaterThan(0);
    expect(totals.micros).toBe(settled);
    expect(lines.reduce((sum, line) => sum + line.micros, 0)).toBe(settled);
  }
});

test('corrections are lines of their own, and those after the end of the month are late', async () => {
  const { lines, totals } = await jsonOf(await house(), ...NOVEMBER, '--by', 'job');
  expect(
    lines.flatMap(({ job, micros }) => (job?.unchecked ? [[job.id, job.unchecked, micros]] : [])),
  ).toEqual([
    [8, 'bypass', 450_000],
    [10, 'unmetered', 150_000],
  ]);
  const corrections = lines.filter(({ kind }) => kind === 'correction');
  expect(
    corrections.map(({ job, cause, late, micros, seconds }) => [job?.id, cause, late, micros, seconds]),
  ).toEqual([
    [1, 'duration', false, -51_667, -31],
    [2, 'duration', true, 100_000, 60],
    [5, 'expired', false, 1_000_000, 600],
  ]);
  expect(totals).toMatchObject({
    lateMicros: 100_000,
    correctedMicros: 1_048_333,
    openJobs: 1,
    heldMicros: 1_000_000,
  });
});

test('a group that nobody knows is no statement of 0.00', async () => {
  const bench = await house();
  for (const [group, said] of [
    ['acme/paymets', '--group acme/paymets: is not in the directory; did you mean acme/payments?'],
    ['elsewhere', '--group elsewhere: is not in the directory; expected an id or a path of it'],
    ['4711', '--group 4711: is not in the directory'],
  ] as const)
    await expect(run(bench, '--month', '2026-11', '--group', group)).rejects.toThrow(said);
});

test('for people: total, corrections, what is still held, no trick of a name', async () => {
  const { out, code } = await run(await house(), ...NOVEMBER, '--by', 'job');
  expect(code).toBe(EXIT.ok);
  expect(out).toMatch(/^acme\/payments, 2026-11 \(Europe\/Berlin\): /);
  expect(out).toContain('late correction (duration)');
  expect(out).toContain('Their number: 1.');
  expect(out).not.toContain('\u202e');
});

test('CSV: formulas are harmless, negative amounts stay numbers', async () => {
  const { out } = await run(await house(), ...NOVEMBER, '--by', 'job', '--format', 'csv');
  const lines = out.split('\r\n');
  expect(lines[0]).toMatch(/^month,day,root,group,/);
  expect(out).toContain(`"'=HYPERLINK(""x""),\u202e"`);
  expect(out).toContain(',correction,duration,false,1,-31,-0.051667,EUR,');
  expect(lines.at(-1)).toBe('');
});

describe('FOCUS 1.2', () => {
  test.each(['day', 'job'])('by %s every row keeps every rule, and the costs add up', async (by) => {
    const bench = await house();
    const { out } = await run(bench, ...NOVEMBER, '--by', by, '--format', 'focus');
    expect(focusProblems(out)).toEqual([]);
    const { rows } = (await import('./focus-rules.ts')).readCsv(out);
    const billed = rows.reduce((sum, row) => sum + Math.round(Number(row.BilledCost) * 1e6), 0);
    expect(billed).toBe(await settledOf(bench, '2026-11'));
    expect(rows.filter(({ ChargeClass }) => ChargeClass === 'Correction')).toHaveLength(1);
    expect(rows.filter(({ x_LateFact: late }) => late === 'true')).toHaveLength(1);
  });
});

test.each([
  [['--group', 'acme']],
  [['--month', '2026-11']],
  [['--month', '2026-13', '--group', 'acme']],
  [[...NOVEMBER, '--format', 'csv', '--json']],
  [[...NOVEMBER, '--out', '/dev/null/s.csv']],
])('%j is wrong usage', async (args) => {
  await expect(run(await house(), ...args)).rejects.toThrow(UsageError);
});

test('who started a job is in no statement', async () => {
  const bench = await house();
  for (const format of [['--json'], ['--format', 'csv'], ['--format', 'focus'], ['--format', 'terminal']]) {
    const { out } = await run(bench, ...NOVEMBER, '--by', 'job', ...format);
    expect(out.toLowerCase()).not.toContain('user');
  }
});
