import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAdmitApp } from '../../functions/admit/app.ts';
import { silentLog } from '../../functions/core/environment/environment.ts';
import { createLedger } from '../../functions/core/ledger/create-ledger.ts';
import type { JobEnd } from '../../functions/core/ledger/ledger.ts';
import { MemoryStore } from '../../functions/core/ledger/memory-store.ts';
import type { Write } from '../../functions/core/ledger/store.ts';
import { createBreaker } from '../../relay/admit/breaker.ts';
import { createForwarder } from '../../relay/admit/forward.ts';
import { createGroupCommit } from '../../relay/commit/group-commit.ts';
import { createLanes, type Lanes } from '../../relay/commit/lanes.ts';
import { VirtualTime } from '../../scripts/local/clock.ts';
import { seededRandom } from '../../scripts/local/random.ts';
import { contendedStore } from '../../scripts/proof/bench/contention-model.ts';
import { flowRules } from '../support/flow/flow.ts';

const ROOTS = 24;
/** The only one with a limit of its own. */
const OWN_ROOT = 100;
const NOVEMBER_MS = Date.UTC(2026, 10, 21);

interface Load {
  readonly seed: number;
  readonly jobs: number;
  readonly perSecond: number;
  /** Jobs at once on the whole instance. */
  readonly most: number;
  /** Jobs at once of one of the roots. @default as many as of all */
  readonly ownMost?: number;
  readonly relays: number;
}

/** Relays, the admit function and settlement over one table whose items are fought for; nothing takes real time. */
async function lived({ seed, jobs, perSecond, most, ownMost = most, relays }: Load) {
  const clock = new VirtualTime(NOVEMBER_MS);
  const random = seededRandom(seed);
  const rules = flowRules([
    { on: 'instance', jobs: most, mode: 'enforce' },
    { on: { group: OWN_ROOT }, jobs: ownMost, mode: 'enforce' },
  ]);
  const seen = { atOnce: 0, most: 0, own: 0, ownMost: 0, roots: [] as number[], wrongs: [] as unknown[] };
  const onCommit = (writes: readonly Write[]): void => {
    for (const write of writes) {
      if (write.kind !== 'counter') continue;
      if (write.key.subject === 'instance') seen.atOnce += write.committed;
      else seen.own += write.committed;
      seen.most = Math.max(seen.most, seen.atOnce);
      seen.ownMost = Math.max(seen.ownMost, seen.own);
    }
    const ended = writes.flatMap((write) =>
      write.kind === 'record' && write.record.state === 'SETTLED' ? [write.record.facts.rootId] : [],
    );
    if (ended.length > 0) seen.roots.push(new Set(ended).size);
  };
  const memory = new MemoryStore({ instance: 'shared.example.com', clock, onCommit });
  const table = contendedStore(memory, clock, random);
  const newLedger = () => createLedger({ store: table, clock, random });
  const fronts = Array.from({ length: relays }, () => {
    const lanes = createLanes(clock);
    const app = createAdmitApp({
      ledger: newLedger(),
      currentRules: async () => rules,
      clock,
      log: silentLog,
    });
    const forwarder = createForwarder({
      baseUrl: 'http://admit.example.com',
      fetch: async (url, init) => app.request(url, init),
      clock,
      random,
      breaker: createBreaker(
        () => clock.monotonicMs(),
        () => {},
      ),
      observe: () => {},
      lanes,
    });
    const commit = createGroupCommit({
      send: forwarder.send,
      clock,
      observe: () => {},
      lanes,
      defer: (run) => void clock.after(0, run),
    });
    return { lanes, commit };
  });

  const ends: JobEnd[] = [];
  const ask = async (jobId: number): Promise<string> => {
    const root = 100 + Math.floor(random() * ROOTS);
    const request = {
      jobId,
      projectId: 1_000 + root,
      rootNamespaceId: root,
      namespaceId: root,
      timeoutSeconds: 3600,
    };
    const verdict = await fronts[jobId % relays]?.commit.decide(request, clock.monotonicMs() + 2_000);
    if (verdict?.outcome === 'admitted')
      clock.after(300 * random(), () => ends.push({ jobId, durationSeconds: 60, endedAtMs: clock.nowMs() }));
    return verdict?.outcome ?? 'unanswered';
  };
  const asking = async (): Promise<readonly string[]> => {
    const asked: Promise<string>[] = [];
    for (let jobId = 1; jobId <= jobs; jobId += 1) {
      await clock.sleep((2_000 * random()) / perSecond);
      asked.push(ask(jobId));
    }
    return Promise.all(asked);
  };
  let settled = 0;
  const settling = async (admitted: Promise<number>): Promise<void> => {
    const ledger = newLedger();
    let all = Number.POSITIVE_INFINITY;
    admitted.then((count) => {
      all = count;
    });
    while (settled < all) {
      await clock.sleep(100);
      const outcomes = await ledger.settle(ends.splice(0));
      settled += outcomes.filter((outcome) => outcome === 'applied').length;
    }
  };
  const answers = asking();
  const admitted = answers.then((all) => all.filter((answer) => answer === 'admitted').length);
  await clock.run(Promise.all([answers, settling(admitted)]));
  const { drift } = await createLedger({ store: memory, clock }).rebuild({ repair: false });
  return { answers: await answers, seen, settled, drift, lanes: fronts.map((front) => front.lanes) };
}

const lanesOf = ({ laneOf }: Lanes): number =>
  new Set(Array.from({ length: ROOTS }, (_, index) => laneOf(String(100 + index)))).size;

test('many roots under one limit, two relays, ends settled meanwhile: nobody is left to the fallback, and each relay has one lane for them', async () => {
  const { answers, seen, settled, lanes } = await lived({
    seed: 1,
    jobs: 1_200,
    perSecond: 400,
    most: 1_000_000,
    relays: 2,
  });
  expect(new Set(answers)).toEqual(new Set(['admitted']));
  expect(lanes.map(lanesOf)).toEqual([1, 1]);
  expect([settled, seen.atOnce]).toEqual([1_200, 0]);
});

test('ends of several roots are settled by one transaction', async () => {
  const { seen } = await lived({ seed: 2, jobs: 400, perSecond: 400, most: 1_000_000, relays: 1 });
  expect(Math.max(...seen.roots)).toBeGreaterThan(10);
});

test('a shared limit that is full all the time and a root’s own within it hold exactly, whatever lanes, relays and ends do', async () => {
  const load = fc.record({
    seed: fc.nat(),
    jobs: fc.integer({ min: 50, max: 300 }),
    perSecond: fc.constantFrom(100, 400, 1_500),
    most: fc.integer({ min: 1, max: 40 }),
    ownMost: fc.integer({ min: 1, max: 3 }),
    relays: fc.constantFrom(1, 2, 4),
  });
  await fc.assert(
    fc.asyncProperty(load, async (one) => {
      const { answers, seen, settled, drift } = await lived(one);
      const admitted = answers.filter((answer) => answer === 'admitted').length;
      expect(answers).not.toContain('unanswered');
      expect(seen.most).toBeLessThanOrEqual(one.most);
      expect(seen.ownMost).toBeLessThanOrEqual(one.ownMost);
      expect(admitted).toBeGreaterThanOrEqual(Math.min(one.most, 1));
      expect([settled, seen.atOnce, seen.own]).toEqual([admitted, 0, 0]);
      expect([drift, seen.wrongs]).toEqual([[], []]);
    }),
    { numRuns: 15 },
  );
});
