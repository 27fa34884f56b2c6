import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readLocalRules } from '../../../../scripts/local/admit.ts';
import { EXIT } from '../../../../scripts/terminal/command.ts';
import { manager } from '../fleet/fleet-bench.ts';
import { initBench, URL_FLAGS } from './init-bench.ts';

const DRAFT = [
  '--policy',
  'mine/policy.yaml',
  '--limits',
  'mine/limits.yaml',
  '--directory',
  'mine/directory.yaml',
];

/** Two top-level groups with a subgroup each, three kinds of runners and what they ran. */
function company() {
  const bench = initBench();
  const { local, ran } = bench;
  const { places } = local;
  places.groups.set(100, { id: 100, path: 'acme' });
  places.groups.set(101, { id: 101, parentId: 100, path: 'payments' });
  places.groups.set(200, { id: 200, path: 'beta' });
  places.users.set(900, 'jane');
  places.projects.set(5, { id: 5, namespaceId: 900, path: 'dotfiles' });
  local.addRunner({ id: 1, tags: ['linux'], managers: [manager('s_1', '19.0.0')] });
  local.addRunner({ id: 2, tags: ['linux', 'GPU!'], managers: [manager('s_2', '19.0.0')] });
  local.addRunner({
    id: 3,
    runUntagged: true,
    managers: [manager('s_3', '19.0.0', { architecture: 'arm64' })],
  });
  local.addRunner({ id: 4, tags: ['mac'], managers: [manager('s_4', '19.0.0', { platform: 'darwin' })] });
  local.addRunner({ id: 5, tags: ['mac'], managers: [manager('s_5', '19.0.0')] });
  for (let job = 0; job < 25; job += 1)
    ran({ path: 'acme/payments/api', projectId: 1, runnerId: 1, minutes: 10 });
  ran({ path: 'acme/payments/api', projectId: 1, runnerId: 2, minutes: 60 });
  ran({ path: 'beta/site', projectId: 2, runnerId: 3, minutes: 5 });
  ran({ path: 'jane/dotfiles', projectId: 5, runnerId: 3, minutes: 1 });
  return bench;
}

test('the drafted documents are valid as they are, the pilot reads them, and validate names what is to be filled in', async () => {
  const { root, run } = company();
  const drafted = await run('init', ...URL_FLAGS);
  expect(drafted).toMatchObject({ code: EXIT.ok, err: '' });
  expect(drafted.out).toMatch(/drafted\. Runners: 5, groups: 4, jobs since [\d-]+: 28\./);

  const validated = await run('policy', 'validate', ...DRAFT);
  expect(validated.code).toBe(EXIT.ok);
  expect(validated.err).toMatch(
    /mine\/policy\.yaml:\d+:\d+ prices\.classes\[\d\]\.rate_per_minute: .*still to be filled in/,
  );
  expect(validated.err).toMatch(/platform: is not there/);

  const rules = readLocalRules({
    policyFile: join(root, 'mine/policy.yaml'),
    limitsFile: join(root, 'mine/limits.yaml'),
    directoryFile: join(root, 'mine/directory.yaml'),
  });
  expect(rules.policy.rules.map(({ id }) => id)).toEqual(['budgets', 'jobs-at-once']);
  expect(rules.directory?.groupById.get(900)).toMatchObject({ path: 'jane', personal: true });
  expect([...(rules.directory?.projectById.keys() ?? [])]).toEqual([1, 2, 5]);
});

test('runner classes are those of the fleet: more tags first, machines of equal tags apart, prices to be filled', async () => {
  const { root, run } = company();
  await run('init', ...URL_FLAGS);
  const { policy } = readLocalRules({
    policyFile: join(root, 'mine/policy.yaml'),
    limitsFile: join(root, 'mine/limits.yaml'),
    directoryFile: undefined,
  });
  const { classes, defaultClass, version } = policy.prices;
  expect(version).toBe('to-be-filled');
  expect(classes.map(({ name, tags, runnerIds }) => [name, tags, [...runnerIds]])).toEqual([
    ['mac-darwin-amd64', [], [4]],
    ['mac-linux-amd64', [], [5]],
    ['gpu-linux', ['GPU!', 'linux'], []],
    ['linux', ['linux'], []],
    ['untagged', [], [3]],
  ]);
  expect(classes.every(({ microsPerMinute }) => microsPerMinute === 0)).toBe(true);
  expect(defaultClass.name).toBe('untagged');
  expect(classes.find(({ name }) => name === 'linux')?.estimateSeconds).toBe(600);
});

test('limits are defaults by pattern from what was used, all in shadow, and each number says where it comes from', async () => {
  const { root, run } = company();
  await run('init', ...URL_FLAGS);
  const text = readFileSync(join(root, 'mine/limits.yaml'), 'utf8');
  expect(text).toMatch(
    /# Each top-level group: 2 of them ran jobs; nine of ten used no more\.\n +- \{ groups: "\*", minutes: \d+, per: month, zone: UTC, mode: shadow \}/,
  );
  // 310 minutes in 30 days, and a quarter on top.
  expect(text).toContain('{ groups: "*", minutes: 390, per: month, zone: UTC, mode: shadow }');
  expect(text).toContain('{ groups: "*/*", jobs: 2, mode: shadow }');
  const { limits } = readLocalRules({
    policyFile: join(root, 'mine/policy.yaml'),
    limitsFile: join(root, 'mine/limits.yaml'),
    directoryFile: undefined,
  });
  const all = [...(limits.groupDefaults?.all.map(({ limit }) => limit) ?? []), ...limits.personalDefault];
  expect(all.length).toBe(6);
  expect(new Set(all.map(({ mode }) => mode))).toEqual(new Set(['shadow']));
});

test('a group that uses far more than others at its level has limits of its own', async () => {
  const { local, ran, run, root } = initBench();
  local.addRunner({ id: 1, tags: ['linux'], managers: [manager('s_1', '19.0.0')] });
  for (let id = 1; id <= 20; id += 1) {
    local.places.groups.set(id, { id, path: `team-${id}` });
    ran({ path: `team-${id}/app`, projectId: id, runnerId: 1, minutes: id === 7 ? 3_000 : 10 });
  }
  expect((await run('init', ...URL_FLAGS)).code).toBe(EXIT.ok);
  const text = readFileSync(join(root, 'mine/limits.yaml'), 'utf8');
  expect(text).toMatch(
    /# team-7: 1 jobs, 3000 minutes in 30 days, at most 1 at once\.\n +- \{ on: \{ group: 7 \}, minutes: 3800, /,
  );
  expect(text).toContain('groups: "*", minutes: 13,');
});

test('nothing is written over without --force, none of the three files', async () => {
  const { root, run } = company();
  await run('init', ...URL_FLAGS);
  const before = readFileSync(join(root, 'mine/policy.yaml'), 'utf8');
  writeFileSync(join(root, 'mine/limits.yaml'), 'limits: [] # mine\n');
  const refused = await run('init', ...URL_FLAGS, '--currency', 'USD');
  expect(refused).toMatchObject({ code: EXIT.invalid, err: expect.stringContaining('mine/limits.yaml') });
  expect(readFileSync(join(root, 'mine/limits.yaml'), 'utf8')).toBe('limits: [] # mine\n');
  expect(readFileSync(join(root, 'mine/policy.yaml'), 'utf8')).toBe(before);
  expect((await run('init', ...URL_FLAGS, '--currency', 'USD', '--force')).code).toBe(EXIT.ok);
  expect(readFileSync(join(root, 'mine/policy.yaml'), 'utf8')).toContain('currency: USD');
});

test('--dry-run prints the three documents and writes none', async () => {
  const { root, run } = company();
  const shown = await run('init', ...URL_FLAGS, '--dry-run');
  for (const name of ['policy', 'limits', 'directory']) expect(shown.out).toContain(`/mine/${name}.yaml\n`);
  expect(existsSync(join(root, 'mine'))).toBe(false);
  const json = JSON.parse((await run('init', ...URL_FLAGS, '--dry-run', '--json')).out);
  expect(json).toMatchObject({ written: false, runners: 5, groups: 4, jobs: 28, left: 0, cutRunners: [] });
  expect(Object.keys(json.documents)).toEqual(['policy', 'limits', 'directory']);
});

test('a GitLab without runners, groups and jobs gives documents that are valid', async () => {
  const { run } = initBench();
  expect((await run('init', ...URL_FLAGS)).code).toBe(EXIT.ok);
  expect((await run('policy', 'validate', ...DRAFT)).code).toBe(EXIT.ok);
});

test('stopped at any call it goes on from the pages it kept, and drafts the same', async () => {
  const whole = company();
  for (let job = 0; job < 210; job += 1)
    whole.ran({ path: 'beta/site', projectId: 2, runnerId: 3, minutes: 1 });
  const expected = JSON.parse((await whole.run('init', ...URL_FLAGS, '--dry-run', '--json')).out).documents;
  let stops = 0;
  for (let calls = 11; calls <= 22; calls += 3) {
    const { run, root, local } = whole;
    const file = `jobs-${calls}.jsonl`;
    const asked = local.counters.rest.calls;
    const outage = setOutageAfter(local, asked + calls);
    const stopped = await run('init', ...URL_FLAGS, '--dry-run', '--json', '--resume', file);
    outage();
    if (stopped.code === EXIT.ok) break;
    expect(stopped.code).toBe(EXIT.failed);
    stops += 1;
    if (existsSync(join(root, file))) writeFileSync(join(root, file), '{"runner":3,"jo', { flag: 'a' });
    const resumed = await run('init', ...URL_FLAGS, '--dry-run', '--json', '--resume', file);
    expect(JSON.parse(resumed.out).documents).toEqual(expected);
  }
  expect(stops).toBeGreaterThanOrEqual(2);
});

test('where GitLab has only numbered pages, a job that comes again on the next one counts once', async () => {
  const { local, ran, run } = initBench();
  local.places.groups.set(1, { id: 1, path: 'team' });
  local.addRunner({ id: 1, tags: ['linux'] });
  for (let job = 0; job < 150; job += 1) ran({ path: 'team/app', projectId: 1, runnerId: 1, minutes: 1 });
  local.faults.refuseKeyset = true;
  let lists = 0;
  const take = local.faults.takeRest.bind(local.faults);
  local.faults.takeRest = () => {
    lists += 1;
    // The list of runners, a runner, its managers, the refusal, the first page; then a job starts.
    if (lists === 6) ran({ path: 'team/app', projectId: 1, runnerId: 1, minutes: 1 });
    return take();
  };
  const { out } = await run('init', ...URL_FLAGS, '--dry-run', '--json');
  expect(JSON.parse(out)).toMatchObject({ jobs: 150 });
});

/** The REST API refuses every call after so many. */
function setOutageAfter(local: ReturnType<typeof initBench>['local'], calls: number): () => void {
  const { faults } = local;
  const take = faults.takeRest.bind(faults);
  faults.takeRest = () => (local.counters.rest.calls > calls ? { status: 403 } : take());
  return () => {
    faults.takeRest = take;
  };
}

test.each([
  ['{"instance":"other.example","sinceMs":1,"untilMs":2}\n', 'not of gitlab.localhost'],
  ['limits: []\n', 'was not written by tollgate init'],
])('a resume file of something else is refused and left as it is', async (text, told) => {
  const { root, run } = company();
  writeFileSync(join(root, 'kept'), text);
  const refused = await run('init', ...URL_FLAGS, '--resume', 'kept');
  expect(refused).toMatchObject({ code: EXIT.invalid, err: expect.stringContaining(told) });
  expect(readFileSync(join(root, 'kept'), 'utf8')).toBe(text);
});

test.each([
  [['--days', '91'], '--days'],
  [['--currency', 'euro'], '--currency'],
  [['--zone', 'Mars/Base'], '--zone'],
])('%j is wrong usage', async (flags, told) => {
  expect(await initBench().run('init', ...URL_FLAGS, ...flags)).toMatchObject({
    code: EXIT.invalid,
    err: expect.stringContaining(told),
  });
});

test('what people called a runner or a group breaks no line of a document', async () => {
  const { local, ran, run } = initBench();
  local.addRunner({
    id: 1,
    tags: ['a"b', 'x\ny: z'],
    description: 'q',
    managers: [manager('s_1', '19', { platform: 'li\nnux' })],
  });
  local.places.groups.set(1, { id: 1, path: 'team: {x}' });
  ran({ path: 'team/app', projectId: 1, runnerId: 1, minutes: 10 });
  expect(await run('init', ...URL_FLAGS, '--dry-run', '--json')).toMatchObject({ code: EXIT.ok, err: '' });
});
