/** `tollgate check` beside a console that runs: by a job's token, and without one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EXIT } from '../../../../scripts/terminal/command.ts';
import { consoleHouse, LIMITS } from '../../../functions/console/house.ts';
import { serveConsole } from '../../../functions/console/served-console.ts';
import { runDesk } from '../desk-run.ts';
import { repository } from './check-bench.ts';

const PERIOD = '2026-11';
const RULES = [
  { id: 'budgets', kind: 'budget', mode: 'enforce' },
  { id: 'at-once', kind: 'concurrency', mode: 'enforce' },
  { id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:*'] },
];
const DIRECTORY = {
  groups: [
    { id: 100, path: 'acme' },
    { id: 101, parent: 100, path: 'acme/payments' },
    { id: 104, parent: 101, path: 'acme/payments/cards' },
  ],
  projects: [{ id: 1, group: 104, path: 'acme/payments/cards/api' }],
};
const PIPELINE = `image: alpine:3.22
unit: { script: x, timeout: 10m }
big: { script: x, parallel: 4, timeout: 1h }
`;

async function opened({ file = PIPELINE, disclose = 'all' } = {}) {
  const house = consoleHouse({ policy: { rules: RULES, disclose: { default: disclose } } });
  await house.apply(LIMITS);
  const served = await serveConsole(house);
  const at = repository({ files: file, rules: RULES });
  at.write('policies/directory.yaml', JSON.stringify(DIRECTORY));
  const check = (env: Readonly<Record<string, string>>, ...args: string[]) =>
    runDesk(['check', '--project', 'acme/payments/cards/api', ...args], at.folder, {
      columns: 120,
      env: { XDG_CONFIG_HOME: at.folder, ...env },
      nowMs: () => house.clock.nowMs(),
    });
  const inJob = (...args: string[]) =>
    check({ TOLLGATE_ID_TOKEN: served.tokenOf(1) }, '--console', served.url, ...args);
  const markdown = () => readFileSync(join(at.folder, 'check.md'), 'utf8');
  return { ...house, ...served, check, inJob, markdown };
}

test('a job is told what is left of its budgets, as text, JSON and Markdown', async () => {
  const { inJob, counts, markdown } = await opened();
  counts('group/104', 'money-month', PERIOD, 500_000);
  const { code, out, err } = await inJob('--markdown', 'check.md');
  expect([code, err]).toEqual([EXIT.ok, '']);
  for (const text of [out, markdown()]) {
    expect(text).toMatch(
      /money-month of acme\/payments\/cards: asks [\d.]+, left 2\.50 of 3\.00 EUR for November 2026/,
    );
    expect(text).toContain('jobs-now of acme/payments/cards: asks 5, left 10 of 10 jobs');
  }
  const { now, total } = JSON.parse((await inJob('--json')).out);
  expect(now.place).toEqual({ subject: 'project/1', path: 'acme/payments/cards/api' });
  // The console's prices are the file's, here.
  expect(now.total).toMatchObject({ jobs: total.jobs, costMicros: total.costMicros, rejected: 0 });
});

test('what is used up rejects now, though no file says so', async () => {
  const { inJob, check, counts, markdown } = await opened();
  counts('group/104', 'money-month', PERIOD, 2_999_999);
  expect((await check({})).code).toBe(EXIT.ok);
  const { code, out } = await inJob('--markdown', 'check.md');
  expect(code).toBe(EXIT.wouldReject);
  for (const text of [out, markdown()]) {
    expect(text).toMatch(
      /Would be rejected now, as the limits stand(\*\*\n)?\n[-` ]+budgets: \[BUDGET_EXHAUSTED\][^*]*every job/,
    );
    expect(text).toContain('more is asked than is left');
    expect(text).toContain('5 would be rejected now');
  }
});

test('what its files already tell is not told twice', async () => {
  const { inJob } = await opened({ file: 'unit: { script: x, image: node:24 }\n' });
  const { code, out } = await inJob();
  expect(code).toBe(EXIT.wouldReject);
  expect(out.match(/IMAGE_NOT_ALLOWED/g)).toHaveLength(1);
  expect(out).not.toContain('as the limits stand');
});

test('where not everything was read, what is left is said to be of what was read', async () => {
  const { inJob, markdown } = await opened({ file: `include: { template: X.yml }\n${PIPELINE}` });
  const { code, out } = await inJob('--markdown', 'check.md');
  expect(code).toBe(EXIT.ok);
  for (const text of [out, markdown()])
    expect(text).toContain('Jobs and values that were not read may ask for more.');
  expect(out.trimEnd().split('\n').at(-1)).toContain('5 not sure');
});

test('numbers that the group does not disclose reach neither log nor merge request', async () => {
  const { inJob, counts, markdown } = await opened({ disclose: 'none' });
  counts('group/104', 'money-month', PERIOD, 2_999_999);
  const { code, out } = await inJob('--markdown', 'check.md');
  expect(code).toBe(EXIT.wouldReject);
  for (const text of [out, markdown()]) {
    expect(text).toContain('4 more limits with figures that are not shown');
    expect(text).not.toMatch(/of 3\.00|2\.99/);
  }
});

test('a token that does not hold, and a console that is away, are told; the files are checked all the same', async () => {
  const { check, inJob, gitlab, url } = await opened();
  const foreign = gitlab.token(gitlab.claims('https://vault.example.com'));
  const refused = await check({ TOLLGATE_ID_TOKEN: foreign }, '--console', url);
  expect(refused.code).toBe(EXIT.failed);
  expect(refused.err).toMatch(/not known: The job’s id_token is not made out to http/);
  expect(refused.err + refused.out).not.toContain(foreign.slice(-40));
  expect(refused.out).toContain('none would be rejected');
  const away = await check({ TOLLGATE_ID_TOKEN: foreign }, '--console', 'http://127.0.0.1:1');
  expect([away.code, away.out]).toEqual([EXIT.failed, refused.out]);
  expect((await inJob()).code).toBe(EXIT.ok);
});

test('without a flag and without a way in, nobody is asked; with the flag somebody has to sign in', async () => {
  const { check, url, gitlab } = await opened();
  const { code, out, err } = await check({ TOLLGATE_CONSOLE: url });
  expect([code, err]).toEqual([EXIT.ok, '']);
  expect(out).not.toContain('Left now');
  expect((await check({}, '--console', url)).code).toBe(EXIT.invalid);
  expect(gitlab.asked).toEqual([]);
});
