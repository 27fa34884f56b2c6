import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { REJECTED_BY_ROUTER } from '../../../functions/core/gitlab/gitlab.ts';
import { getItem, itemAt, putItem } from '../../../functions/core/store/calls.ts';
import { TimeLimit } from '../../../functions/core/store/operation.ts';
import { readLocalRules } from '../../../scripts/local/admit.ts';
import type { LocalJob } from '../../../scripts/local/gitlab/state.ts';
import { openOwnTable } from '../../../scripts/local/ledger-folder.ts';
import { ledgerFolder } from '../../../scripts/local/ledger-note.ts';
import { parseOptions } from '../../../scripts/local/options.ts';
import { run } from '../../../scripts/local/run.ts';
import { UsageError } from '../../../scripts/terminal/command.ts';
import { ONE_PRICE, silentScreen } from './example-ledger.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PIPELINE = `${ROOT}scripts/local/pipelines/web-shop`;
const MICROS_PER_MINUTE = 60_000;

const POLICY = `${ONE_PRICE}  - { id: jobs-at-once, kind: concurrency, mode: enforce }
`;
const LIMITS = `
limits:
  - { on: instance, money: 1000, per: once }
  - { on: { group: 100 }, minutes: 100000, per: once }
  - { on: { group: 101 }, money: 3, per: once }
  - { on: { group: 103 }, jobs: 50 }
  - { on: { group: 103 }, money: 500, per: once }
`;

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-run-'));
  writeFileSync(join(folder, 'policy.yaml'), POLICY);
  writeFileSync(join(folder, 'limits.yaml'), LIMITS);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function optionsOf(...args: readonly string[]) {
  return parseOptions(
    [
      ...['--pipeline', PIPELINE, '--policy', join(folder, 'policy.yaml')],
      ...['--limits', join(folder, 'limits.yaml'), ...args],
    ],
    ROOT,
  );
}

const runOf = (options: ReturnType<typeof optionsOf>, screen = silentScreen(), root = `${folder}/`) =>
  run(options, readLocalRules(options), root, screen, new AbortController().signal);

const ran = (job: Readonly<LocalJob>): boolean =>
  job.startedAtMs !== undefined && job.failureReason !== REJECTED_BY_ROUTER;

/** As GitLab counts, rounded up to whole seconds as holds are. */
const secondsOf = ({ startedAtMs = 0, finishedAtMs = 0 }: Readonly<LocalJob>): number =>
  Math.ceil((finishedAtMs - startedAtMs) / 1000);

const moneyOf = (jobs: readonly Readonly<LocalJob>[]): number =>
  jobs.reduce((sum, job) => sum + Math.ceil((secondsOf(job) * MICROS_PER_MINUTE) / 60), 0);

// With --json nothing is made up, so that the counters show this run alone.
test.each([
  { ledger: 'in memory', args: ['--memory', '--jobs', '300', '--rate', '200'] },
  { ledger: 'in a file', args: ['--fresh', '--jobs', '60', '--rate', '100'] },
])(
  '$ledger, with lost webhooks: at the end nothing is held and what the run spent is what GitLab says ran',
  async ({ args }) => {
    const { summary, jobs } = await runOf(optionsOf('--json', ...args));
    const under = (path: string) => jobs.filter((job) => ran(job) && job.projectPath.startsWith(path));
    const spent = (subject: string, unit: string): number | undefined =>
      summary.limits.find((limit) => limit.subject === subject && limit.unit === unit)?.spent;
    expect(summary.limits.filter(({ held }) => held !== 0)).toEqual([]);
    expect(spent('instance', 'micros')).toBe(moneyOf(under('')));
    expect(spent('acme', 'seconds')).toBe(under('acme/').reduce((sum, job) => sum + secondsOf(job), 0));
    expect(spent('acme/payments', 'micros')).toBe(moneyOf(under('acme/payments/')));
    expect(spent('acme/data', 'micros')).toBe(moneyOf(under('acme/data/')));

    // Otherwise nothing above would say anything about losses.
    expect(summary.ends?.webhooks.lost).toBeGreaterThan(0);
    expect(summary.ends).toMatchObject({ holdsLeft: 0 });
    expect((summary.ends?.webhook ?? 0) + (summary.ends?.sweep ?? 0)).toBe(under('').length);
    const { rejectedBy = {} } = summary.groups.find(({ group }) => group === 'acme/payments') ?? {};
    expect(Object.keys(rejectedBy)).toContain('BUDGET_EXHAUSTED (budgets)');
  },
  150_000,
);

test('the console has a month of jobs while the jobs run, and with --console until Ctrl-C', async () => {
  const options = optionsOf('--memory', '--jobs', '30', '--rate', '100', '--console');
  const stop = new AbortController();
  const seen: Promise<number>[] = [];
  let url = '';
  const look = (): Promise<number> => {
    const status = fetch(`${url}/healthz`).then((response) => response.status);
    seen.push(status);
    return status;
  };
  const watching = silentScreen({
    started: (facts) => {
      url = facts.console ?? '';
      expect(facts['sign in']).toContain('fiona-finance');
      expect(facts.month).toMatch(/^\d+ made-up jobs of the last 30 days/);
      void look();
    },
    note: (text) => {
      if (text.includes('The console stays')) void look().finally(() => stop.abort());
    },
  });
  await run(options, readLocalRules(options), `${folder}/`, watching, stop.signal);
  expect(await Promise.all(seen)).toEqual([200, 200]);
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
}, 60_000);

test('a folder that another program has its ledger in is left alone, also with --fresh', async () => {
  const place = `${mkdtempSync(join(folder, 'taken-'))}/`;
  const dataDir = ledgerFolder(place);
  const first = openOwnTable(dataDir, false);
  try {
    await putItem(first.table, itemAt({ pk: 'a', sk: 'b' }, {}), new TimeLimit(60_000));
    writeFileSync(join(dataDir, 'kept'), '');
    const options = optionsOf('--fresh', '--json');
    const second = runOf(options, silentScreen(), place);
    await expect(second).rejects.toThrow(UsageError);
    await expect(second).rejects.toThrow(/is in use: .* Let it end first, or say --memory/);
    expect(readdirSync(dataDir)).toContain('kept');
    expect(await getItem(first.table, { pk: 'a', sk: 'b' }, new TimeLimit(60_000))).toBeDefined();
  } finally {
    first.close();
  }
});
