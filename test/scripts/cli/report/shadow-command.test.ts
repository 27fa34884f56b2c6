import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ShadowReport } from '../../../../functions/answers/rollout/shadow-report.ts';
import { csvField } from '../../../../functions/answers/statement/csv.ts';
import { EXIT, UsageError } from '../../../../scripts/terminal/command.ts';
import { aRequest, ledgerBench } from '../ledger-bench.ts';

const RULES = [
  { id: 'budgets', kind: 'budget', mode: 'shadow' },
  { id: 'images', kind: 'image', mode: 'warn', allow: ['alpine:*'] },
];
const LIMITS = [{ on: { group: 101 }, money: 2, per: 'month' }];
const EVIL = '=HYPERLINK("http://evil")<script>alert(1)</script>\u202e';

/** Five jobs of acme/payments against a budget for two, and one of acme/platform with an image that is not allowed. */
async function house() {
  const bench = ledgerBench({ policy: { rules: RULES }, limits: LIMITS });
  for (const jobId of [1, 2, 3, 4, 5]) {
    bench.clock.advance(60_000);
    await bench.ask([aRequest(jobId, { jobName: jobId === 5 ? EVIL : `unit ${jobId}` })]);
    // Both turn out to need 0.10 of the 1.00 they held: there is room again.
    const ends = [1, 2].map((ended) => ({
      jobId: ended,
      durationSeconds: 60,
      // After job 3 was asked about: at one instant, an end comes before a beginning.
      endedAtMs: bench.clock.nowMs() + 500,
    }));
    if (jobId === 3) await bench.ledger.settle(ends);
  }
  bench.clock.advance(60_000);
  const image = { image: 'ubuntu:26.04', namespaceId: 102, projectId: 1002 };
  await bench.ask([aRequest(6, { ...image, projectPath: `acme/platform/=a"b`, jobName: 'build' })]);
  bench.clock.advance(60_000);
  return bench;
}
type House = Awaited<ReturnType<typeof house>>;

const report = (bench: House, ...args: string[]) => bench.run('report shadow', args);

const jsonOf = async (bench: House, ...args: string[]): Promise<ShadowReport> =>
  JSON.parse((await report(bench, '--json', ...args)).out);

test('totals, rows and jobs with links to their pages', async () => {
  const found = await jsonOf(await house());
  expect(found.totals).toMatchObject({ jobs: 6, wouldFail: 3, rejected: 0 });
  expect(found.rows.map(({ root, group, rule, code, jobs }) => [root, group, rule, code, jobs])).toEqual([
    ['acme', 'acme/payments', 'budgets', 'BUDGET_EXHAUSTED', 2],
    ['acme', 'acme/platform', 'images', 'IMAGE_NOT_ALLOWED', 1],
  ]);
  expect(found.rows[0]?.examples[0]).toMatchObject({
    jobId: 5,
    url: 'https://gitlab.example.com/acme/payments/checkout/-/jobs/5',
  });
  expect(found.rows[1]?.examples[0]?.url).toBe('https://gitlab.example.com/acme/platform/%3Da%22b/-/jobs/6');
});

test('--group takes an id or a path, with everything below', async () => {
  const bench = await house();
  for (const group of ['101', 'acme/payments', 'ACME/Payments'])
    expect((await jsonOf(bench, '--group', group)).totals, group).toMatchObject({ jobs: 5, wouldFail: 2 });
  expect((await jsonOf(bench, '--group', 'acme')).totals.jobs).toBe(6);
  expect((await jsonOf(bench, '--group', 'instance')).totals).toEqual((await jsonOf(bench)).totals);
  await expect(jsonOf(bench, '--group', 'acme/paymets')).rejects.toThrow(
    '--group acme/paymets: is not in the directory; did you mean acme/payments?',
  );
});

test('for people', async () => {
  const { out, code } = await report(await house());
  expect(code).toBe(EXIT.ok);
  expect(out).not.toContain('\u202e');
  expect(
    out
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n'),
  ).toMatchSnapshot();
});

/** Fourteen jobs of a controller in dry run: GitLab runs them all, whatever it is told. */
async function dryRun() {
  const rules = [
    { id: 'budgets', kind: 'budget', mode: 'enforce' },
    { id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:*'] },
  ];
  const bench = ledgerBench({
    policy: { rules },
    limits: [{ on: { group: 101 }, money: 100, per: 'month' }],
  });
  const evil = { image: 'ubuntu:26.04' };
  for (let jobId = 1; jobId <= 14; jobId += 1) {
    bench.clock.advance(60_000);
    const again = { jobName: 'build', pipelineId: 77, ...evil };
    await bench.ask([aRequest(jobId, jobId === 5 || jobId === 9 ? again : { jobName: `unit ${jobId}` })]);
    const end = { jobId, durationSeconds: 60, endedAtMs: bench.clock.nowMs() + 60_000 };
    await bench.ledger.settle([end]);
  }
  bench.clock.advance(60_000);
  return bench;
}

test('a job that was rejected and ran would have failed had the controller been armed', async () => {
  const bench = await dryRun();
  const { totals, ifArmed } = await jsonOf(bench);
  expect(totals).toMatchObject({ jobs: 14, rejected: 2, ranRejected: 2, wouldFail: 0, unasked: 0 });
  expect(ifArmed).toMatchObject({ jobs: 14, wouldFail: 2, ranRejected: 2, unasked: 0 });
  expect(ifArmed.rows).toMatchObject([
    { group: 'acme/payments', rule: 'images', code: 'IMAGE_NOT_ALLOWED', jobs: 2 },
  ]);
  expect(ifArmed.rows[0]?.examples.map(({ jobId }) => jobId)).toEqual([9, 5]);
  const { out } = await report(bench);
  expect(out).toContain('If armed now: 2 of 14 jobs would have failed (14 %)');
  expect(out).toContain('2 jobs ran although rejected: the controller was in dry_run');
  expect(out).toContain('0 of 14 jobs would have failed by what only watches.');
  expect((await report(bench, '--format', 'csv')).out).toMatch(
    /^acme,acme\/payments,images,security,enforce,IMAGE_NOT_ALLOWED,2,2\.000000,EUR,/m,
  );
});

describe('CSV', () => {
  test('RFC 4180, no formula, whole numbers and plain decimals', async () => {
    const { out } = await report(await house(), '--format', 'csv');
    const lines = out.split('\r\n');
    expect(lines[0]).toBe(
      'root,group,rule,class,mode,code,would_fail,cost,currency,first_at,last_at,example_jobs',
    );
    expect(lines[1]).toMatch(
      /^acme,acme\/payments,budgets,cost,shadow,BUDGET_EXHAUSTED,2,2\.000000,EUR,2026-11-21T12:03:00\.000Z,/,
    );
    expect(lines.at(-1)).toBe('');
  });

  test('a field read back is the text, or the text made harmless', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const field = csvField(text);
        const read = field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field;
        expect([text, `'${text}`]).toContain(read);
        if (!field.startsWith('"')) expect(field).not.toMatch(/[",\r\n]/);
        expect(read).not.toMatch(/^\s*[=+@-]/);
      }),
    );
  });
});

test.each([[['--since', 'yesterday']], [['--format', 'pdf']], [['--out', '/dev/null/report.csv']]])(
  '%j is wrong usage',
  async (args) => {
    await expect(report(await house(), ...args)).rejects.toThrow(UsageError);
  },
);
