/** Both answers at a GitLab over HTTP, its job router over gRPC and a runner: proven, or why not; and nothing stays behind. */
import { expect, test } from 'vitest';
import { STATUS } from '../../../../relay/router/router.ts';
import { PLACEHOLDER_HASH } from '../../../../relay/wire/schema.ts';
import { NOW_MS } from '../../../policies/documents.ts';
import { schemaVariant } from '../../../support/relay/schema-variants.ts';
import { CANARY_PROJECT, CANARY_RUNNER, canaryBench } from './canary-bench.ts';

const NOTHING = { controllers: [], unfinished: 0 };

test('both answers are proven: the one job ran, the other failed with our text, and all is gone again', async () => {
  const bench = await canaryBench();
  const { code, out, err } = await bench.run();
  expect([code, err]).toEqual([0, '']);
  expect(out).toContain('we admitted job 1, and it ran');
  expect(out).toContain('we rejected job 2, and it failed with our text');
  expect(out).toContain('Both answers are proven on GitLab 19.4.0-ee');
  expect(bench.left()).toEqual(NOTHING);
  // A controller that is enabled before it can be asked fails every job.
  expect(bench.streamsWhenArmed.map((streams) => streams > 0)).toEqual([true]);
  expect(bench.gitlab.job(1)).toMatchObject({ status: 'success', trace: '$ echo admitted\n' });
  expect(bench.gitlab.job(2)).toMatchObject({ status: 'failed', failureReason: 'job_router_failure' });
  expect(bench.gitlab.job(2)?.failureMessage).toMatch(/tollgate canary \w+: this job was to be rejected/);
  expect(await bench.outcomes.read()).toEqual({
    ...{ checkedAtMs: NOW_MS, admitted: 'proven', rejected: 'proven', runnerId: 7 },
    ...{ descriptors: PLACEHOLDER_HASH, gitlabVersion: '19.4.0-ee' },
  });
});

test('descriptors with the arms the other way round are found out, and no other controller or job is touched', async () => {
  const controllers = [{ state: 'dry_run' as const, description: 'tollgate', runnerScopes: [8] }];
  const runners = [CANARY_RUNNER, { id: 8, tags: ['linux'] }];
  const bench = await canaryBench({ controllers, runners });
  const before = bench.gitlab.controller(1);
  const swapped = schemaVariant({
    renumber: (number, message) => (message === 'AdmitJobResponse' ? 3 - number : number),
  });
  bench.writeFile('gitlab.binpb', swapped);
  const { code, out } = await bench.run();
  expect(code).toBe(2);
  expect(out).toContain('"admitted" failed job 1\n');
  expect(out).toContain('we rejected job 2, and it ran');
  expect(out).toContain('do not arm');
  expect(bench.gitlab.controller(1)).toEqual(before);
  expect(bench.left()).toEqual({ controllers: ['1 dry_run'], unfinished: 0 });
  expect(bench.router.counters.streams.asked).toBe(2);
  expect(await bench.outcomes.read()).toMatchObject({ admitted: 'contrary', rejected: 'contrary' });
});

test('a runner that passes the router by is told apart: both jobs ran without an admission request', async () => {
  const bench = await canaryBench({ usesRouter: false });
  const { code, out } = await bench.run();
  expect(code).toBe(2);
  expect(out.match(/job \d ran and GitLab never asked about it/g)).toHaveLength(2);
  expect(out).toContain('FF_USE_JOB_ROUTER');
  expect(bench.left()).toEqual(NOTHING);
  expect(await bench.outcomes.read()).toMatchObject({ admitted: 'bypassed', rejected: 'bypassed' });
});

test('a runner that is off lets the time run out; an earlier proof stays', async () => {
  const bench = await canaryBench({ runnerIsOff: true });
  const earlier = {
    ...{ checkedAtMs: 1, admitted: 'proven' as const, rejected: 'proven' as const, runnerId: 7 },
    ...{ descriptors: 'aa', gitlabVersion: '19.3.0' },
  };
  await bench.outcomes.write(earlier);
  const { code, out } = await bench.run('--wait', '10');
  expect(code).toBe(2);
  expect(out).toContain('job 1 is pending: no runner took it');
  expect(out).toContain('start the runner');
  expect(out).toContain('canceled pipeline 1');
  expect(bench.left()).toEqual(NOTHING);
  expect(await bench.outcomes.read()).toEqual(earlier);
});

test('a router that refuses the stream of the new token: nothing is armed', async () => {
  const bench = await canaryBench({ hasty: true });
  bench.router.faults.refuseCalls(STATUS.UNAUTHENTICATED, {
    ...{ method: 'admit', calls: Number.POSITIVE_INFINITY },
  });
  const { code, out } = await bench.run();
  expect([code, bench.streamsWhenArmed, bench.left()]).toEqual([2, [], NOTHING]);
  expect(out).toMatch(/no stream to grpc:.*: status 16/);
});

test('another controller that stops the jobs first is no verdict on our answers', async () => {
  const controllers = [{ state: 'enabled' as const, description: 'another one', instanceScope: true }];
  const bench = await canaryBench({ controllers });
  const { code, out } = await bench.run();
  expect(code).toBe(2);
  expect(out.match(/failed before GitLab asked: .*Agent connection not found/g)).toHaveLength(2);
  expect(await bench.outcomes.read()).toBeUndefined();
  expect(bench.left()).toEqual({ controllers: ['1 enabled'], unfinished: 0 });
});

test.each([
  { who: { ...CANARY_RUNNER, runUntagged: true }, says: 'takes jobs without tags' },
  { who: { ...CANARY_RUNNER, tags: ['tollgate-canary', 'linux'] }, says: 'has 2 tags' },
  { who: { ...CANARY_RUNNER, paused: true }, says: 'is paused' },
])('a runner that $says is refused before anything is made', async ({ who, says }) => {
  const bench = await canaryBench({ runners: [who] });
  const { code, out } = await bench.run();
  expect([code, out.includes(says)]).toEqual([2, true]);
  expect(out).not.toContain('done');
  expect([...bench.gitlab.jobs()]).toEqual([]);
});

test('a project without the two jobs is told what is expected, and its pipeline is canceled', async () => {
  const [first] = CANARY_PROJECT.jobs;
  const jobs = first === undefined ? [] : [first, { ...first, name: 'deploy' }];
  const bench = await canaryBench({ projects: [{ ...CANARY_PROJECT, jobs }] });
  const { code, out } = await bench.run();
  expect([code, out.includes('has the jobs deploy, tollgate-canary-runs')]).toEqual([2, true]);
  expect(bench.left()).toEqual(NOTHING);
  const empty = await canaryBench({ projects: [{ ...CANARY_PROJECT, jobs: [] }] });
  expect((await empty.run()).out).toContain('needs jobs for pipelines of source api');
  const absent = await canaryBench({ projects: [] });
  expect((await absent.run()).out).toContain('GitLab has nothing there');
});

test('killed at any call and run again, it proves the same and leaves nothing', async () => {
  const bench = await canaryBench();
  const { calls } = await bench.run();
  expect(calls).toBeGreaterThan(20);
  for (let at = 1; at <= calls; at += 1)
    for (const whenDone of [false, true]) {
      bench.dieAt(at, whenDone);
      expect((await bench.run()).code, `died at call ${at}`).not.toBe(3);
      bench.dieAt(undefined);
      const again = await bench.run();
      expect([again.code, bench.left()], `died at call ${at}: ${again.out}`).toEqual([0, NOTHING]);
    }
});
