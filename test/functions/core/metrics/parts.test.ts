/** That the parts say the right numbers; that deployed handlers write them is deployed-handlers.integ.test.ts's business. */
import { expect, test } from 'vitest';
import type { DirectorySyncReport } from '../../../../functions/core/directory/sync.ts';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { inboxItem } from '../../../../functions/core/ledger/items.ts';
import type { Ledger } from '../../../../functions/core/ledger/ledger.ts';
import { MemoryStore, type StoreFault } from '../../../../functions/core/ledger/memory-store.ts';
import { LimitStore } from '../../../../functions/core/limits/limit-store.ts';
import { publishLimits } from '../../../../functions/core/limits/publish-limits.ts';
import { emfMetrics } from '../../../../functions/core/metrics.ts';
import { ledgerKeys } from '../../../../functions/core/store/keys.ts';
import { measureDirectoryReport as measureDirectory } from '../../../../functions/directory-sync/make-hooks.ts';
import { consume } from '../../../../functions/settle/consume.ts';
import { measureSweepReport as measureSweep } from '../../../../functions/sweep/report.ts';
import { directoryOf } from '../../../../policies/directory.ts';
import { aPolicy, someLimits } from '../../../policies/documents.ts';
import { measuredOf } from '../../../support/emf-spec.ts';
import { fillPlaces } from '../../../support/fill-places.ts';
import { anAsk, claim, someFacts } from '../../../support/ledger/asks.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';
import { books, hintOf, INSTANCE, ranFor, STARTED_MS } from '../../../support/ledger/truths.ts';
import { MINUTE_MS, syncBench } from '../../../support/sync-bench.ts';
import { type LimitOperation, memoryLimitTable } from '../../../support/tables/memory-limit-table.ts';
import { house, VISIT_MS } from '../../sweep/house.ts';

function bench() {
  const lines: string[] = [];
  const clock = { nowMs: () => STARTED_MS };
  const metrics = emfMetrics({ deployment: 'production', clock, write: (line) => lines.push(line) });
  return { metrics, said: () => lines.splice(0).map((line) => measuredOf(line).values) };
}

test.each<[string, readonly StoreFault[], number]>([
  ['no trouble', [], 0],
  ['a conflict and a throttle', [{ kind: 'conflict' }, { kind: 'throttle' }], 2],
  ['a lost answer', [{ kind: 'lost-after' }], 1],
])('every try that the ledger had to repeat is told: %s', async (_, faults, told) => {
  const left = [...faults];
  const clock = manualClock();
  const store = new MemoryStore({
    instance: INSTANCE,
    clock,
    fault: (operation) => (operation === 'transact' ? left.shift() : undefined),
  });
  let retries = 0;
  const onRetry = (): void => {
    retries += 1;
  };
  const ledger = createLedger({ store, clock, random: () => 0.5, onRetry });
  const outcomes = await ledger.hold([anAsk(1, [claim('group/1', 10, 100)])], clock.monotonicMs() + 5_000);
  expect(outcomes).toMatchObject([{ outcome: 'admitted' }]);
  expect(retries).toBe(told);
});

test('limits that cannot be read are told each time, while the last valid ones stay, and no longer when they can', async () => {
  let fault: LimitOperation | undefined;
  let unreadable = 0;
  const policy = aPolicy();
  const carry = { max: '50%' };
  const limits = [100, 200].map((group) => ({ on: { group }, money: 1, per: 'month', carry }));
  const table = memoryLimitTable((operation) => (operation === fault ? 'lost-before' : undefined));
  const clock = manualClock();
  const store = new LimitStore({
    table,
    policy,
    packed: someLimits({ limits }),
    clock,
    previous: async () => [],
    log: silentLog,
    onUnreadable: () => {
      unreadable += 1;
    },
  });
  const directory = directoryOf([
    { id: 100, path: 'acme', personal: false },
    { id: 200, path: 'beta', personal: false },
  ]);
  const change = { actor: 'finance', why: 'test', source: 'test', atMs: 1 };
  expect(await publishLimits({ limits }, change, { table, policy, directory })).toMatchObject({
    outcome: 'live',
  });

  fault = 'readChunks';
  await expect(store.limitsFor(['group/100']), 'the first set').rejects.toThrow('limits_unavailable');
  expect(unreadable).toBe(1);

  fault = 'readOpenings';
  await store.limitsFor(['group/100']);
  expect(unreadable, 'what was carried over').toBe(2);
  fault = undefined;
  await store.limitsFor(['group/100']);

  fault = 'readChunks';
  await expect(store.limitsFor(['group/200']), 'a root that is new').rejects.toThrow('limits_unavailable');
  expect(unreadable).toBe(3);

  fault = 'getPointer';
  for (const _ of [1, 2]) {
    clock.advance(10_000);
    await store.limitsFor(['group/100']);
  }
  expect(unreadable, 'which set is live').toBe(5);

  fault = undefined;
  clock.advance(10_000);
  await store.limitsFor(['group/100', 'group/200']);
  expect(unreadable).toBe(5);
});

const holdAtStart = (ledger: Ledger, jobIds: readonly number[]) =>
  ledger.hold(
    jobIds.map((jobId) => ({
      ...anAsk(jobId, [claim('group/100', 600)], { facts: someFacts({ rootId: 100 }) }),
      decidedAtMs: STARTED_MS,
    })),
    Number.MAX_VALUE,
  );

test('a batch of ends is one line: how many, and how long after each end it was charged', async () => {
  const { metrics, said } = bench();
  const { deps, clock, ledger } = books();
  await holdAtStart(ledger, [1, 2, 3]);
  const keys = ledgerKeys(INSTANCE);
  const arrived = [ranFor(1, 60), ranFor(2, 600), ranFor(3, 60, { status: 'running' })].map(
    (truth, index) => ({
      eventName: 'INSERT',
      dynamodb: {
        SequenceNumber: `${index}`,
        NewImage: inboxItem(
          { id: `${index}`, body: hintOf(truth), receivedAtMs: STARTED_MS, untilMs: STARTED_MS + 1 },
          keys,
        ),
      },
    }),
  );
  await consume({ Records: arrived }, { ...deps, keys, metrics });
  const sinceStart = (clock.nowMs() - STARTED_MS) / 1000;
  expect(said()).toEqual([{ JobEvents: [2], SettlementLagSeconds: [sinceStart - 60, sinceStart - 600] }]);

  // Charged already: what comes again is an event, and no settlement.
  await consume({ Records: arrived.slice(0, 1) }, { ...deps, keys, metrics });
  expect(said()).toEqual([{ JobEvents: [1] }]);
  await consume({ Records: [] }, { ...deps, keys, metrics });
  expect(said()).toEqual([]);
});

test('ends the table gave no answer for are told when they come again', async () => {
  const { metrics, said } = bench();
  let silent = false;
  const { deps, ledger } = books({ fault: () => (silent ? { kind: 'lost-before' } : undefined) });
  const keys = ledgerKeys(INSTANCE);
  const item = { id: 'x', body: hintOf(ranFor(1, 60)), receivedAtMs: STARTED_MS, untilMs: STARTED_MS + 1 };
  const Records = [
    { eventName: 'INSERT', dynamodb: { SequenceNumber: '1', NewImage: inboxItem(item, keys) } },
  ];
  await holdAtStart(ledger, [1]);
  silent = true;
  await consume({ Records }, { ...deps, keys, metrics });
  expect(said()).toEqual([]);
  silent = false;
  await consume({ Records }, { ...deps, keys, metrics });
  expect(said()).toMatchObject([{ JobEvents: [1] }]);
});

test('a sweep tells what it healed, what ran and what nobody admitted', async () => {
  const { metrics, said } = bench();
  const { clock, gitlab, hold, sweep, truth, finished } = house();
  gitlab.put(finished(1, 10));
  clock.advance(VISIT_MS);
  await sweep();
  await hold([2, 3]);
  gitlab.put(truth(2), truth(3));
  clock.advance(VISIT_MS);
  await sweep();
  gitlab.put(finished(2, 60), finished(4, 60));
  clock.advance(VISIT_MS);
  const report = await sweep();
  expect(report).toMatchObject({ settled: 1, unadmitted: 1 });
  measureSweep(report, metrics);
  expect(said()).toEqual([
    {
      LiveHolds: [2],
      OldestDueAgeSeconds: [0],
      GitLabSilent: [0],
      HealedBySweep: [1],
      AdmittedYetFailed: [0],
      BypassJobs: [1],
      OutOfScopeJobs: [0],
      RanJobs: [report.ran],
    },
  ]);
  measureSweep({ ...report, gitlabSilent: true, oldestDueAgeMs: 1_500, released: 2, expired: 4 }, metrics);
  expect(said()).toMatchObject([{ GitLabSilent: [1], OldestDueAgeSeconds: [1.5], HealedBySweep: [7] }]);
});

const SYNCED: DirectorySyncReport = {
  outcome: 'flipped',
  live: true,
  calls: 1,
  groups: 1,
  rootIds: [],
  groupsListing: 'going',
  groupsListedAgeMs: 300_000,
  groupsMissing: 0,
  projectsChanged: 0,
  projectsListed: 0,
  projectsRemoved: 0,
  projectsRefused: 0,
  projectsGoing: false,
  wishes: 0,
  wishesGranted: 0,
  unreadable: 0,
};

test('the directory’s age is told by the run that counts, and not before there is one', () => {
  const { metrics, said } = bench();
  const { groupsListedAgeMs: _, ...never } = SYNCED;
  for (const report of [SYNCED, { ...SYNCED, outcome: 'stale' } as const, never])
    measureDirectory(report, metrics);
  expect(said()).toEqual([{ DirectoryAgeSeconds: [300] }]);
});

test('the directory ages while GitLab does not list it to its end', async () => {
  const bench = syncBench();
  fillPlaces(bench.places, { roots: 10, groups: 100, projects: 0 });
  expect(await bench.run()).toMatchObject({ groupsListing: 'listed', groupsListedAgeMs: 0 });
  const groups = [...bench.places.groups];
  bench.places.groups.clear();
  expect(await bench.run()).toMatchObject({ groupsListing: 'refused', groupsListedAgeMs: 5 * MINUTE_MS });
  expect(await bench.run()).toMatchObject({ groupsListing: 'refused', groupsListedAgeMs: 10 * MINUTE_MS });
  for (const [id, group] of groups) bench.places.groups.set(id, group);
  expect(await bench.run()).toMatchObject({ groupsListing: 'listed', groupsListedAgeMs: 0 });
});
