import { expect, test } from 'vitest';
import { GitLabError } from '../../../../functions/core/gitlab/gitlab.ts';
import type { FleetGitLab, FleetRunner } from '../../../../functions/core/gitlab/runners.ts';
import { openFleet } from '../../../../scripts/cli/fleet/read-fleet.ts';
import { budgetBench } from '../budget/budget-bench.ts';
import { aProject } from '../desk-run.ts';

const TODAY = '2026-11-21';

async function bench(runners: Readonly<Record<string, number>>) {
  const desk = await budgetBench();
  const total = (prefixes: string): number =>
    Object.entries(runners).reduce(
      (sum, [name, jobs]) => sum + (prefixes.includes(name.charAt(0)) ? jobs : 0),
      0,
    );
  const counts = [
    ['ran', total('ab')],
    ['unasked', total('b')],
  ] as const;
  const named = new Map([...counts, ...Object.entries(runners)].filter(([, jobs]) => jobs > 0));
  const plain = new Map(counts.filter(([, jobs]) => jobs > 0));
  await desk.rollup.commit({
    contributions: [],
    usage: [
      { key: { subject: 'instance', day: TODAY }, delta: plain },
      { key: { subject: 'group/100', day: TODAY }, delta: named },
      { key: { subject: 'group/101', day: TODAY }, delta: named },
    ],
  });
  const run = (...args: readonly string[]) => desk.run('coverage', args);
  const withGitLab = (fleet: Pick<FleetGitLab, 'runner' | 'managers'>) =>
    desk.run(
      'coverage',
      ['--gitlab', 'https://gitlab.example.com', '--token-file', `${aProject({ token: 'glpat-x' })}token`],
      {},
      [[openFleet, () => fleet as FleetGitLab]],
    );
  return { ...desk, run, withGitLab };
}

const A_RUNNER: FleetRunner = {
  ...{ id: 1, description: '', type: 'instance_type', paused: false, status: 'online', tags: [] },
  ...{ runUntagged: true, locked: false, accessLevel: 'not_protected', ownerIds: [] },
};

test('where jobs passed by: which runners, what to do once for all that it helps, and exit code 2', async () => {
  const { run } = await bench({ 'a:41': 90, 'b:42': 6, 'b:43': 3, 'a:?': 1 });
  const { code, out } = await run();
  expect(code).toBe(2);
  expect(out).toContain('91 % of the jobs that ran were asked about: 91 of 100.');
  expect(out).toContain('9 passed by, the last on 2026-11-21; they are charged.');
  expect(out).toMatch(/^42 +not known +6 +0 +6 +0 % +2026-11-21$/m);
  expect(out).toMatch(/^Runners 42, 43: Its version is not known/m);
  expect(out).toContain('1 of 3 runners ask about every job');
  expect(out).toMatch(/^acme +9 +91 +100 +91 % +2026-11-21$/m);
  expect(out).not.toMatch(/^41 /m);
  expect((await run('--all')).out).toMatch(/^41 +not known +0 +90 +90 +100 %$/m);
});

test('with a token for GitLab each runner has its version and the remedy of it; a silent GitLab hides no figure', async () => {
  const { run, withGitLab } = await bench({ 'a:41': 90, 'b:42': 6, 'b:43': 4 });
  const fleet = {
    runner: async (id: number) => ({ ...A_RUNNER, id, description: `host-${id}` }),
    managers: async (id: number) => ({
      managers: [{ systemId: 's_1', status: 'online', version: id === 42 ? '18.8.0' : '18.10.1' }],
    }),
  };
  const told = await withGitLab(fleet);
  expect(told.out).toMatch(/^42 host-42 +18\.8\.0 /m);
  expect(told.out).toMatch(/^Runner 42: 18\.8\.0 does not know the job router/m);
  expect(told.out).toMatch(/^Runner 43: Set the environment variable FF_USE_JOB_ROUTER=true/m);
  const silent = await withGitLab({
    ...fleet,
    runner: async () => {
      throw new GitLabError('gitlab_unavailable', 'silent');
    },
  });
  expect(silent).toMatchObject({ code: 2, out: (await run()).out });
  expect((await run('--gitlab', 'https://gitlab.example.com')).code).toBe(3);
});

test('one group, as JSON; a group that nobody knows, a project and a day too many are wrong usage', async () => {
  const { run } = await bench({ 'a:41': 5, 'b:42': 5 });
  const { out, code } = await run('--group', 'acme/payments', '--json');
  expect(code).toBe(2);
  expect(JSON.parse(out)).toMatchObject({
    subject: 'group/101',
    total: { ran: 10, asked: 5, bypass: 5 },
    runners: [{ runnerId: 42 }, { runnerId: 41 }],
  });
  for (const words of [
    ['--group', 'nobody'],
    ['--group', 'project/1001'],
    ['--days', '32'],
    ['--days', '0'],
  ])
    expect((await run(...words)).code).toBe(3);
});
