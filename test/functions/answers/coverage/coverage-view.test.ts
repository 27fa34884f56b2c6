import { expect, test } from 'vitest';
import { bypassRemedy, coverageShareText } from '../../../../functions/answers/groups/coverage.ts';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import type { GitLabJob } from '../../../../functions/core/gitlab/gitlab.ts';
import { chargeBypass } from '../../../../functions/core/job-ends/charge-bypass.ts';
import type { ControllerScope } from '../../../../functions/core/ledger/controller.ts';
import { timeoutEstimator } from '../../../../policies/estimate.ts';
import { aJob, consoleHouse, LIMITS, USERS } from '../../console/house.ts';

const OPS = { projectId: 2, projectPath: 'beta/ops/tools', namespaceId: 201, rootNamespaceId: 200 };

async function coverageHouse() {
  const house = consoleHouse();
  await house.apply(LIMITS);
  /** GitLab tells that they ran; who has no record by then was never asked about. */
  const ran = async (
    runnerId: number | undefined,
    jobIds: readonly number[],
    more: Partial<GitLabJob> = {},
    scope?: ControllerScope,
  ): Promise<void> => {
    const nowMs = house.clock.nowMs();
    const gitlabJobs = jobIds.map(
      (jobId): GitLabJob => ({
        jobId,
        projectId: 1,
        projectPath: 'acme/payments/cards/api',
        status: 'success',
        startedAtMs: nowMs - 60_000,
        finishedAtMs: nowMs,
        durationSeconds: 60,
        ...(runnerId !== undefined && { runnerId }),
        ...more,
      }),
    );
    const limits = (await house.limitEdits.live())?.limits ?? house.deps.packedLimits;
    const rules = { policy: house.policy, limits, directory: house.directory, estimator: timeoutEstimator };
    await chargeBypass(gitlabJobs, {
      ledger: house.ledger,
      currentRules: async () => rules,
      clock: house.clock,
      log: silentLog,
      ...(scope !== undefined && { scope: async () => scope }),
    });
    await house.roll();
  };
  return { ...house, ran };
}

/** Runner 41 asks; 42 never does; 43 at times. One job of beta passes by, too. */
async function someCoverage() {
  const house = await coverageHouse();
  const { ask, ran } = house;
  await ask([aJob(1, { runnerId: 41 }), aJob(2, { runnerId: 41 })]);
  await ran(41, [1, 2]);
  await ask([aJob(3, { runnerId: 43 })]);
  await ran(43, [3, 4]);
  await ran(42, [5, 6]);
  await ran(42, [7], OPS);
  return house;
}

test('asked ÷ ran: in all, by group, by runner, those that pass by most first', async () => {
  const { read } = await someCoverage();
  const view = await read.coverage({}, USERS.finance);
  expect(view).toMatchObject({
    subject: 'instance',
    fromDay: '2026-11-15',
    toDay: '2026-11-21',
    total: { ran: 7, asked: 3, bypass: 4, share: 3 / 7, lastBypassDay: '2026-11-21', ranRejected: 0 },
    otherGroups: { ran: 0, asked: 0, bypass: 0 },
    runnersTotal: 3,
    runnersBypassing: 2,
    unknownRunner: { ran: 0 },
    otherRunners: { ran: 0 },
  });
  expect(view?.groups.map(({ path, ran, bypass }) => [path, ran, bypass])).toEqual([
    ['acme', 6, 3],
    ['beta', 1, 1],
  ]);
  expect(view?.runners).toMatchObject([
    { runnerId: 42, ran: 3, asked: 0, bypass: 3, share: 0 },
    { runnerId: 43, ran: 2, asked: 1, bypass: 1, share: 0.5 },
    { runnerId: 41, ran: 2, asked: 2, bypass: 0, share: 1 },
  ]);
  expect(view?.runners[2]).not.toHaveProperty('remedy');
});

test('a viewer sees the jobs of their own subtree only, also on runners that others share', async () => {
  const { read } = await someCoverage();
  const view = await read.coverage({}, USERS['viewer of another subtree']);
  expect(view).toMatchObject({ subject: 'group/200', total: { ran: 1, bypass: 1 }, runnersTotal: 1 });
  expect(view?.runners).toMatchObject([{ runnerId: 42, ran: 1, bypass: 1 }]);
  expect(view?.groups.map(({ subject }) => subject)).toEqual(['group/200']);
  expect(await read.coverage({ group: 101 }, USERS['viewer of another subtree'])).toBeUndefined();
  expect(await read.coverage({ group: 100 }, USERS.viewer)).toBeUndefined();
  expect(await read.coverage({ group: 104 }, USERS.viewer)).toMatchObject({ total: { ran: 6, bypass: 3 } });
  expect(await read.coverage({ group: 4711 }, USERS.finance)).toBeUndefined();
});

test('where no job at all was asked about, no runner is the cause', async () => {
  const { read, ran } = await coverageHouse();
  expect(await read.coverage({}, USERS.finance)).toMatchObject({
    total: { ran: 0 },
    groups: [],
    runners: [],
  });
  await ran(42, [1]);
  expect((await read.coverage({}, USERS.finance))?.note).toContain('tollgate controller status');
  expect((await (await someCoverage()).read.coverage({}, USERS.finance))?.note).toBeUndefined();
});

test('a runner that never asks is told to upgrade, or which setting its version has', () => {
  const remedy = (version: string) => bypassRemedy({ asked: 0, bypass: 9 }, { version });
  expect(remedy('18.8.9')).toContain('upgrade');
  expect(remedy('18.10.2-ee')).toContain('environment variable FF_USE_JOB_ROUTER=true');
  expect(remedy('v19.4.1')).toContain('[runners.feature_flags]');
});

test('only whole coverage is called whole', () => {
  expect([1, 0.9999, 0.993, 0.5, 0.29, 0, undefined].map(coverageShareText)).toEqual([
    '100 %',
    '99.9 %',
    '99.3 %',
    '50 %',
    '29 %',
    '0 %',
    '–',
  ]);
});
