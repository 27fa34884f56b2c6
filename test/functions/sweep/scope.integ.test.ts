/** GitLab over HTTP, the table that the sweep and the settlement share, and a controller with the scope of one runner. */
import { expect, test } from 'vitest';
import { silentLog, systemClock } from '../../../functions/core/environment/environment.ts';
import { chargeBypass } from '../../../functions/core/job-ends/charge-bypass.ts';
import { dynamoControllerScope } from '../../../functions/core/ledger/controller.ts';
import { dynamoTable } from '../../../functions/core/store/sdk-table.ts';
import { READ_EVERY_MS, scopeKeeper } from '../../../functions/sweep/keep-scope.ts';
import type { LocalController } from '../../../scripts/local/gitlab/controllers.ts';
import { createLocalGitLab } from '../../../scripts/local/gitlab/local-gitlab.ts';
import type { GitLabVersion } from '../../../scripts/local/gitlab/webhooks.ts';
import { books, ranFor } from '../../support/ledger/gitlab-jobs.ts';
import { localTable } from '../../support/ledger/local-table.ts';

const tableName = 'scope';
const local = localTable(tableName);
const TOKEN = 'glpat-of-a-test';
const SCOPED = 12;
const OTHER = 13;

async function served(version: GitLabVersion, controller: Omit<LocalController, 'id' | 'state'>) {
  const gitlab = createLocalGitLab({
    random: () => 0.5,
    token: TOKEN,
    version,
    controllers: [{ id: 7, state: 'enabled', ...controller }],
  });
  const { url, stop } = await gitlab.listen();
  const rest = { baseUrl: url, token: async () => TOKEN, fetch, clock: systemClock };
  return {
    gitlab,
    rest,
    close: async () => {
      await stop();
      gitlab.stop();
    },
  };
}

test('a job on a runner out of scope is charged nothing, one in scope that nobody asked about is a bypass', async () => {
  const house = books();
  const { gitlab, rest, close } = await served('19.4', { runnerScopes: [SCOPED] });
  const store = dynamoControllerScope({
    table: dynamoTable(local.client, tableName),
    instance: 'one.example.com',
  });
  const { clock } = house;
  const current = scopeKeeper({ controllerId: 7, gitlab: rest, store, clock, log: silentLog });
  const scope = () => store.read();
  const gitlabJobs = [ranFor(1, 90, { runnerId: SCOPED }), ranFor(2, 90, { runnerId: OTHER })];
  try {
    // Before the sweep has looked nobody knows a scope, and both are taken for a bypass.
    expect(await chargeBypass([ranFor(3, 90, { runnerId: OTHER })], { ...house.deps, scope })).toEqual([
      'bypass',
    ]);
    await current();
    clock.advance(READ_EVERY_MS);
    expect(await chargeBypass(gitlabJobs, { ...house.deps, scope })).toEqual(['bypass', 'out_of_scope']);
    expect(await house.charged(1)).toMatchObject({ micros: expect.any(Number) });
    expect(await house.ledger.readRecord(2)).toBeUndefined();

    gitlab.changeController(7, { runnerScopes: [], instanceScope: true, state: 'dry_run' });
    const calls = gitlab.counters.rest.calls;
    expect(await current()).toMatchObject({ state: 'dry_run' });
    await current();
    expect(gitlab.counters.rest.calls).toBe(calls + 2);
    clock.advance(READ_EVERY_MS);
    const startedAtMs = clock.nowMs();
    const late = ranFor(4, 90, { runnerId: OTHER, startedAtMs, finishedAtMs: startedAtMs + 90_000 });
    expect(await chargeBypass([late], { ...house.deps, scope })).toEqual(['bypass']);
  } finally {
    await close();
  }
});
