import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readLocalRules } from '../../../../scripts/local/admit.ts';
import { handClock } from '../../../../scripts/local/clock.ts';
import { createLocalGitLab } from '../../../../scripts/local/gitlab/local-gitlab.ts';
import { seededRandom } from '../../../../scripts/local/random.ts';
import { EXIT } from '../../../../scripts/terminal/command.ts';
import { NOW_MS } from '../../../policies/documents.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';
import { aProject, runDesk } from '../desk-run.ts';
import { manager } from '../fleet/fleet-bench.ts';
import { surrounded } from '../stand-ins.ts';

const FILES = { policy: 'mine/policy.yaml', limits: 'mine/limits.yaml', directory: 'mine/directory.yaml' };
const VALIDATE = [
  'policy',
  'validate',
  ...Object.entries(FILES).flatMap(([name, file]) => [`--${name}`, file]),
];

/** A GitLab with groups, runners and jobs on a clock turned by hand, and `tollgate init` that reads it. */
function initBench() {
  const clock = handClock(NOW_MS - 20 * 86_400_000);
  const local = createLocalGitLab({ clock, random: seededRandom(1), token: 'glpat-secret' });
  const root = aProject({ token: 'glpat-secret\n' });
  let jobId = 0;
  const run = (...args: string[]) =>
    runDesk(args, root, surrounded({ fetch: local.fetch, clock: manualClock() }));
  return {
    ...{ local, root, run },
    init: (...flags: string[]) =>
      run('init', '--gitlab', 'http://gitlab.localhost', '--token-file', 'token', ...flags),
    /** A job that ran. */
    ran: (path: string, projectId: number, runnerId: number, minutes: number) => {
      jobId += 1;
      local.create({ id: jobId, projectId, projectPath: path, name: 'test' });
      local.start(jobId, { id: runnerId });
      clock.advance(minutes * 60_000);
      local.end(jobId, { status: 'success' });
    },
    text: (name: keyof typeof FILES) => readFileSync(join(root, FILES[name]), 'utf8'),
  };
}

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
  const runner = (id: number, tags: string[], more = {}) =>
    local.addRunner({ id, tags, managers: [manager(`s_${id}`, '19.0.0', more)], runUntagged: id === 3 });
  runner(1, ['linux']);
  runner(2, ['linux', 'GPU!']);
  runner(3, [], { architecture: 'arm64' });
  runner(4, ['mac'], { platform: 'darwin' });
  runner(5, ['mac']);
  for (let job = 0; job < 25; job += 1) ran('acme/payments/api', 1, 1, 10);
  ran('acme/payments/api', 1, 2, 60);
  ran('beta/site', 2, 3, 5);
  ran('jane/dotfiles', 5, 3, 1);
  return bench;
}

test('the drafted documents are valid as they are, the pilot reads them, and validate names what is to be filled in', async () => {
  const { root, run, init, text } = company();
  const drafted = await init();
  expect(drafted).toMatchObject({ code: EXIT.ok, err: '' });
  expect(drafted.out).toMatch(/drafted\. Runners: 5, groups: 3, jobs since [\d-]+: 28\./);
  const validated = await run(...VALIDATE);
  expect(validated.code).toBe(EXIT.ok);
  expect(validated.err).toMatch(/mine\/policy\.yaml:\d+:\d+ prices\.version: is to-be-filled/);
  expect(validated.err).toMatch(/platform: missing/);

  const { policy, limits, directory } = readLocalRules({
    policyFile: join(root, FILES.policy),
    limitsFile: join(root, FILES.limits),
    directoryFile: join(root, FILES.directory),
  });
  expect(policy.rules.map(({ id }) => id)).toEqual(['budgets', 'jobs-at-once']);
  expect([...(directory?.projectById.keys() ?? [])]).toEqual([1, 2]);

  // More tags first.
  const { classes, defaultClass, version } = policy.prices;
  expect(classes.map(({ name, tags, runnerIds }) => [name, tags, [...runnerIds]])).toEqual([
    ['gpu-linux', ['GPU!', 'linux'], []],
    ['linux', ['linux'], []],
    ['mac', ['mac'], []],
    ['untagged', [], [3]],
  ]);
  expect(classes.every(({ microsPerMinute }) => microsPerMinute === 0)).toBe(true);
  expect([version, defaultClass.name]).toEqual(['to-be-filled', 'untagged']);
  expect(classes.find(({ name }) => name === 'linux')?.estimateSeconds).toBe(600);

  expect(text('limits')).toMatch(
    /# Each top-level group: 2 ran jobs; nine of ten used no more\.\n +- \{ groups: "\*", minutes: /,
  );
  // 310 minutes in 30 days, and a quarter on top.
  expect(text('limits')).toContain('{ groups: "*", minutes: 390, per: month, zone: UTC, mode: shadow }');
  expect(text('limits')).toContain('{ groups: "*/*", jobs: 2, mode: shadow }');
  const all = limits.groupDefaults?.all.map(({ limit }) => limit) ?? [];
  expect(all.map(({ mode }) => mode)).toEqual(Array(4).fill('shadow'));
});

test('a group that uses far more than others at its level has limits of its own', async () => {
  const { local, ran, init, text } = initBench();
  local.addRunner({ id: 1, tags: ['linux'], managers: [manager('s_1', '19.0.0')] });
  for (let id = 1; id <= 20; id += 1) {
    local.places.groups.set(id, { id, path: `team-${id}` });
    ran(`team-${id}/app`, id, 1, id === 7 ? 3_000 : 10);
  }
  expect((await init()).code).toBe(EXIT.ok);
  expect(text('limits')).toMatch(
    /# team-7: 1 jobs, 3000 minutes in 30 days, at most 1 running together\.\n +- \{ on: \{ group: 7 \}, minutes: 3800, /,
  );
  expect(text('limits')).toContain('groups: "*", minutes: 13,');
});

test('--dry-run prints the three documents and writes none', async () => {
  const { root, init } = company();
  const shown = await init('--dry-run');
  for (const file of Object.values(FILES)) expect(shown.out).toContain(`/${file}\n`);
  expect(existsSync(join(root, 'mine'))).toBe(false);
  const json = JSON.parse((await init('--dry-run', '--json')).out);
  expect(json).toMatchObject({ written: false, runners: 5, groups: 3, jobs: 28, left: 1, cutRunners: [] });
  expect(Object.keys(json.documents)).toEqual(Object.keys(FILES));
});
