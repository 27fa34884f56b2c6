/**
 * The whole afternoon, and the weeks it begins: from nothing to enforcing on a GitLab of 200 groups and 40 runners, and back to
 * nothing. Questions go through a router and a relay over gRPC, admissions over HTTP, webhooks through the settle function.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { GitLabVersion } from '../../../../scripts/local/gitlab/webhooks.ts';
import { afternoonHouse, RECEIVER } from './afternoon-house.ts';

const WHY = '--reason because';
const AT_GITLAB = '--gitlab https://gitlab.example.com --token-file token';
const SETUP = `gitlab setup --webhook-url ${RECEIVER}`;

interface StepCall {
  readonly line: string;
  readonly calls: number;
}

/** @param killed - of the same afternoon: each command dies at its middle call, and is typed again */
async function afternoon(version: GitLabVersion, killed?: readonly StepCall[]) {
  const house = await afternoonHouse(version);
  const { bench } = house;
  const made: StepCall[] = [];
  let deaths = 0;
  const type = async (line: string, expected: number | 'any' = 0) => {
    const before = killed?.[made.length];
    if (before !== undefined && before.calls > 0) {
      expect(line).toBe(before.line);
      const when = made.length % 2 === 0 ? ('before' as const) : ('after' as const);
      bench.dieAt({ at: Math.ceil(before.calls / 2), when });
      const { code } = await house.tollgate(line);
      expect(code, `${line} died ${when} its middle call`).not.toBe(3);
      if (code !== 0) deaths += 1;
      bench.dieAt(undefined);
    }
    const told = await house.tollgate(line);
    const calls = bench.countCalls();
    made.push({ line, calls });
    // What died after its last change may have nothing left to do, or a next step that lacks something.
    if (killed === undefined && expected !== 'any')
      expect([line, told.code, told.code === expected ? '' : told.err]).toEqual([line, expected, '']);
    return told;
  };
  const coverage = async (
    expected: number,
  ): Promise<{
    runnersBypassing: number;
    runners: { runnerId: number; bypass: number }[];
  }> => JSON.parse((await type('coverage --json', expected)).out);
  const steps = async (): Promise<Map<string, string>> => {
    const { rows } = JSON.parse((await type('rollout --json')).out);
    return new Map(
      rows.map(({ path, classes }: { path: string; classes: { step: string }[] }) => [
        path,
        classes.map(({ step }) => step).join(' '),
      ]),
    );
  };

  // From nothing to a controller that is asked and not obeyed.
  const nothing = bench.state();
  await type(`${SETUP} --dry-run`);
  expect(bench.state()).toEqual(nothing);
  await type(SETUP);
  expect(bench.state().controllers).toMatchObject([{ state: 'dry_run', instanceScope: true }]);
  expect(bench.state().hooks.filter((hooks) => hooks.length === 1)).toHaveLength(200);

  await type(`gitlab status --webhook-url ${RECEIVER}`);

  // Limits that only watch, and eight days of work.
  await type('limits publish limits.yaml --why first');
  await type(`rollout back instance --to shadow ${WHY}`);
  await house.startRelay();
  await house.work(8);

  // Ten runners pass by, and these are named; then they ask.
  const covered = await coverage(2);
  const bypassing = covered.runners.filter(({ bypass }) => bypass > 0).map(({ runnerId }) => runnerId);
  expect([covered.runnersBypassing, bypassing.sort()]).toEqual([10, house.bypassing]);
  house.repairRunners();

  // What would have failed: the one group whose limit is too small. Owners are told, and have the time to answer.
  const shadow = await type('report shadow --json');
  expect(shadow.out).toContain('"team-3');
  await type('rollout report --all --told');
  await house.work(8);
  expect((await coverage(0)).runnersBypassing).toBe(0);

  // One group goes on, step by step; whoever lacks something stays.
  const forecast = await type(`rollout next team-1 --dry-run ${WHY}`);
  expect(forecast.out).toMatch(/^If enforced now: 0 of \d+ jobs/);
  await type(`rollout next team-1 ${WHY}`);
  await house.work(8);
  await type(`controller enable ${AT_GITLAB} --yes`);
  house.follow();
  await type(`rollout next team-1 ${WHY}`);
  const one = await steps();
  expect([one.get('team-1'), one.get('team-2'), one.get('team-3')]).toEqual([
    'enforce enforce',
    'reported reported',
    'reported reported',
  ]);

  // Team 1 has six jobs left, and team 2, which has had as many, is only watched.
  const done = Array.from({ length: 6 }, () => 'success');
  expect(await house.burst(1, 8)).toEqual([...done, 'failed', 'failed']);
  expect(house.lastJob()).toMatchObject({ failureReason: 'job_router_failure' });
  expect(await house.burst(2, 8)).toEqual([...done, 'success', 'success']);

  // Everybody, although the platform has not waited for all of them.
  for (let rounds = 0; rounds < 3; rounds += 1) await type(`rollout next --all --force ${WHY}`, 'any');
  const all = await steps();
  expect(new Set(all.values())).toEqual(new Set(['enforce enforce']));
  await house.work(1);
  expect([await house.burst(3, 1), await house.burst(4, 1)]).toEqual([['failed'], ['success']]);

  // A new token, without a relay that has none.
  const first = bench.kept('router-token') ?? '';
  await type('gitlab rotate-token --wait 0', 2);
  expect(bench.kept('router-token')).not.toBe(first);
  await house.startRelay();
  await type(`gitlab rotate-token --wait 0${version === '18.9' ? ' --seen' : ''}`);
  expect(bench.local.controllerTokens.use(first, 0)).toBe(false);
  house.follow();
  expect(await house.burst(4, 1)).toEqual(['success']);

  // A new key of webhooks, and ends of jobs still arrive.
  await type(`gitlab rotate-webhook-key --webhook-url ${RECEIVER}`);
  expect(await house.burst(4, 1)).toEqual(['success']);

  const before = bench.state().controllers;
  await type(`gitlab teardown --webhook-url ${RECEIVER} --yes --confirm gitlab.example.com`);
  expect([bench.state().controllers, bench.state().hooks.flat()]).toEqual([[], []]);
  return { made, deaths, end: { before, all } };
}

let lived: Awaited<ReturnType<typeof afternoon>> | undefined;

test.each(['18.9', '18.11', '19.4'] as const)(
  'GitLab %s: set up, watched, reported, one group enforced, all enforced, rotated, taken down',
  async (version) => {
    lived = await afternoon(version);
  },
);

test('the same on the newest one, each command killed once at its middle call and typed again, ends the same', async () => {
  lived ??= await afternoon('19.4');
  const killed = await afternoon('19.4', lived.made);
  expect(killed.end).toEqual(lived.end);
  // Only where the middle call was the last that mattered is a death no failure.
  expect(killed.deaths).toBeGreaterThan(lived.made.length / 2);
});

test('the page tells no other first afternoon than this one', async () => {
  lived ??= await afternoon('19.4');
  const page = readFileSync(new URL('../../../../docs/platform.md', import.meta.url), 'utf8');
  const section = /\n## First afternoon\n([\s\S]*?)\n## /.exec(page)?.[1] ?? '';
  const told = [...section.matchAll(/^npx tollgate (\w+ [\w-]+)/gm)].map(([, words = '']) => words);
  expect(told).toHaveLength(5);
  const typed = lived.made.map(({ line }) => line.split(' ').slice(0, 2).join(' '));
  expect(told.filter((words) => !typed.includes(words))).toEqual([]);
});
