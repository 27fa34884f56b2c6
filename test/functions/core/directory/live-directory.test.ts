import { expect, test } from 'vitest';
import { createAdmitApp } from '../../../../functions/admit/app.ts';
import { ADMISSIONS_PATH } from '../../../../functions/core/contract/admissions.ts';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { MemoryStore } from '../../../../functions/core/ledger/memory-store.ts';
import { rulesInForce } from '../../../../functions/core/rules/rules.ts';
import { chargeBypass } from '../../../../functions/core/truth/settle-truths.ts';
import type { Decision } from '../../../../policies/decision.ts';
import { timeoutEstimator } from '../../../../policies/estimate.ts';
import { aDirectory, aPolicy, someLimits } from '../../../policies/documents.ts';
import { MINUTE_MS, syncBench } from '../../../support/sync-bench.ts';
import { memoryLimitTable } from '../../../support/tables/memory-limit-table.ts';

const SLOTS = { id: 'slots', on: { group: 2 }, jobs: 1 };

/** One slot on `acme/pay`, which is neither the root nor the own group of any job here. */
function house() {
  const bench = syncBench();
  const { groups, projects } = bench.places;
  groups.set(1, { id: 1, path: 'acme' });
  groups.set(2, { id: 2, parentId: 1, path: 'pay' });
  groups.set(3, { id: 3, parentId: 2, path: 'core' });
  projects.set(11, { id: 11, namespaceId: 3, path: 'checkout' });
  const ledger = createLedger({
    store: new MemoryStore({ instance: 'gitlab.example.com', clock: bench.clock }),
    clock: bench.clock,
  });
  const packed = {
    policy: aPolicy(),
    limits: someLimits({ limits: [SLOTS] }),
    directory: aDirectory,
    estimator: timeoutEstimator,
  };
  const store = bench.reader(aDirectory);
  const rules = rulesInForce(packed, {
    table: memoryLimitTable(),
    ledger,
    clock: bench.clock,
    log: silentLog,
    directoryFor: (jobs) => store.directoryFor(jobs),
  });
  const app = createAdmitApp({ ledger, currentRules: rules.rulesFor, clock: bench.clock, log: silentLog });
  let jobs = 0;
  const decide = async (where: object): Promise<Decision['outcome'] | undefined> => {
    jobs += 1;
    const body = JSON.stringify({ requests: [{ jobId: jobs, ...where }], remainingMs: 20_000 });
    const answer = await app.request(ADMISSIONS_PATH, { method: 'POST', body });
    return ((await answer.json()) as { decisions: Decision[] }).decisions[0]?.outcome;
  };
  return { bench, ledger, rules, store, decide };
}

test('a limit on a group between root and project counts as soon as the groups were synced', async () => {
  const { bench, decide } = house();
  const where = { projectId: 11, namespaceId: 3, rootNamespaceId: 1 };
  // The packed directory knows nothing of these groups.
  expect([await decide(where), await decide(where)]).toEqual(['admitted', 'admitted']);
  await bench.run();
  expect([await decide(where), await decide(where)]).toEqual(['admitted', 'rejected']);
});

test('a group of today has all its limits after the next sync, and its root’s before that', async () => {
  const { bench, decide, store } = house();
  await bench.run();
  bench.places.groups.set(4, { id: 4, parentId: 2, path: 'fresh' });
  const where = { namespaceId: 4, rootNamespaceId: 1 };
  expect([await decide(where), await decide(where)]).toEqual(['admitted', 'admitted']);
  await store.settled();
  expect(await bench.run()).toMatchObject({ wishes: 1, wishesGranted: 1 });
  expect([await decide(where), await decide(where)]).toEqual(['admitted', 'rejected']);
});

test('a job nobody asked about is charged to the groups above it, though only its project is known', async () => {
  const { bench, ledger, rules } = house();
  await bench.run();
  bench.clock.advance(MINUTE_MS);
  const end = { jobId: 900, durationSeconds: 60, endedAtMs: bench.clock.nowMs() };
  const truth = {
    jobId: 900,
    projectId: 11,
    status: 'success' as const,
    startedAtMs: end.endedAtMs - 60_000,
    finishedAtMs: end.endedAtMs,
  };
  await chargeBypass([{ truth, end }], {
    ledger,
    currentRules: rules.rulesFor,
    clock: bench.clock,
    log: silentLog,
  });
  const [record] = await ledger.readRecords([900]);
  expect(record?.facts).toMatchObject({ rootId: 1, groupId: 3, projectId: 11 });
});
