import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EXIT } from '../../../../scripts/terminal/command.ts';
import { NOW_MS } from '../../../policies/documents.ts';
import { fleetBench, manager } from './fleet-bench.ts';

const DAY_MS = 86_400_000;

const bench = (answer?: boolean) => {
  const it = fleetBench(answer);
  it.local.addRunner({ id: 1, createdBy: 5, tags: ['linux'], managers: [manager('s_1', '18.11.2')] });
  it.local.addRunner({ id: 2, description: 'old', tags: ['gpu'], managers: [manager('s_2', '18.8.0')] });
  it.local.addRunner({
    id: 3,
    createdBy: 5,
    managers: [manager('s_3', '18.10.0'), manager('r_4', '19.3.0')],
  });
  it.local.addRunner({ id: 4, createdBy: 5, status: 'never_contacted' });
  it.local.addRunner({
    id: 5,
    createdBy: 5,
    status: 'stale',
    paused: true,
    managers: [manager('s_5', '17.0.0', { status: 'stale', contactedAtMs: NOW_MS - 30 * DAY_MS })],
  });
  return it;
};

test('each runner is told with how it was registered, what its versions can do and what is to change', async () => {
  const { run } = bench();
  const { runners } = JSON.parse((await run('ls', '--json')).out) as {
    runners: readonly { id: number; status: string; findings: readonly string[] }[];
  };
  expect(Object.fromEntries(runners.map(({ id, findings }) => [id, findings]))).toEqual({
    1: [],
    2: ['registration_token', 'router_unsupported'],
    3: ['router_by_environment'],
    4: [],
    // What stopped weeks ago asks for no job: its version is no matter.
    5: [],
  });
  const statuses = ['online', 'online', 'online', 'never_contacted', 'paused'];
  expect(runners.map(({ status }) => status)).toEqual(statuses);
});

test('people get a table, and one line per thing to do with the runners it is for; --check fails', async () => {
  const { out, code } = await bench().run('ls', '--check');
  expect(code).toBe(EXIT.wouldReject);
  expect(out).toMatch(/ 2 +online +registration token +1 +18\.8\.0 +no +old\n/);
  expect(out).toMatch(/ 3 +online +glrt- token +2 +18\.10\.0 to 19\.3\.0 +by environment, by feature flag/);
  expect(out).toMatch(/^- 2: cannot use the job router/m);
  expect(out).toContain('tollgate fleet migrate');
  const good = fleetBench();
  good.local.addRunner({ id: 1, createdBy: 5, managers: [manager('s_1', '19.0.0')] });
  expect((await good.run('ls', '--check')).code).toBe(EXIT.ok);
});

test('one runner that cannot be read hides no other, and a GitLab that is down is a failure', async () => {
  const { local, run } = bench();
  local.addRunner({ id: 6, managers: [], maximumTimeoutSeconds: -1 });
  expect(JSON.parse((await run('ls', '--json')).out)).toMatchObject({ unreadable: 1, cut: false });
  local.faults.answerRest({ status: 502 }, Number.POSITIVE_INFINITY);
  expect(await run('ls')).toMatchObject({ code: EXIT.failed, out: '' });
});

/** How many runners GitLab has. */
async function runnersIn(local: ReturnType<typeof bench>['local']): Promise<number> {
  const headers = { 'private-token': 'glpat-secret' };
  const response = await local.fetch('http://gitlab.localhost/api/v4/runners/all', { headers });
  return JSON.parse(await response.text()).length;
}

test('without --apply, and without consent, a migration is explained and nothing is made', async () => {
  const { local, root, run } = bench(false);
  const { out, code } = await run('migrate');
  expect(code).toBe(EXIT.ok);
  expect(out).toContain('create  runner 2 old');
  expect(out).toContain('tags gpu');
  expect((await run('migrate', '--apply')).code).toBe(EXIT.wouldReject);
  expect(existsSync(join(root, 'runner-in-place-of-2.token'))).toBe(false);
  expect(await runnersIn(local)).toBe(5);
  expect(await run('migrate', '1')).toMatchObject({
    code: EXIT.invalid,
    err: expect.stringContaining('authentication token already'),
  });
});

test('a migration goes step by step to its end, whenever it is called, and its token is in one file alone', async () => {
  const { local, root, run } = bench();
  const step = async (...more: string[]) => {
    const told = await run('migrate', '--apply', '--json', ...more);
    expect(told.out + told.err).not.toContain('glrt-');
    return (JSON.parse(told.out) as { migrations: readonly object[] }).migrations;
  };
  const file = join(root, 'runner-in-place-of-2.token');
  expect(await step()).toMatchObject([
    { runner: 2, step: 'create', applied: true, successor: 6, tokenFile: file },
  ]);
  expect(readFileSync(file, 'utf8')).toMatch(/^glrt-\w{20}\n$/);
  expect(statSync(file).mode & 0o777).toBe(0o600);

  const again = await step();
  expect(again).toMatchObject([{ step: 'install', applied: false, successor: 6 }]);
  expect(JSON.stringify(again)).toContain('s_2');

  const made = { id: 6, createdBy: 1, maintenanceNote: 'tollgate: in place of runner 2' };
  local.addRunner({ id: 2, tags: ['gpu'], managers: [manager('s_2', '18.8.0'), manager('s_9', '18.8.0')] });
  local.addRunner({ ...made, managers: [manager('s_9', '18.11.0')] });
  expect(await step()).toMatchObject([
    { step: 'install', remains: expect.stringMatching(/config.toml of s_2 set/) },
  ]);

  local.addRunner({ ...made, managers: [manager('s_9', '18.11.0'), manager('s_2', '18.11.0')] });
  expect(await step()).toMatchObject([{ step: 'pause', applied: true }]);
  expect(await step()).toMatchObject([{ step: 'delete', applied: false }]);
});

test('a token file that is there already is never written over, and no runner is made', async () => {
  const { local, root, run } = bench();
  writeFileSync(join(root, 'runner-in-place-of-2.token'), 'glrt-the-only-copy\n');
  const told = await run('migrate', '--apply');
  expect(told).toMatchObject({ code: EXIT.invalid, err: expect.stringContaining('is there already') });
  expect(await runnersIn(local)).toBe(5);
});
