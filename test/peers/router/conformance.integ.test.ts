/** The relay as a process against a job router that shares no code with it: see README.md. Rarer cases are in conformance.long.test.ts. */
import { expect } from 'vitest';
import { until } from '../../../scripts/local/timing.ts';
import type { RelayProcess } from './counted-relay.ts';
import { expectRight, expectSameCounts, MIXED, phase, warmUp } from './scene.ts';

phase('decides 300 jobs over wss, then one job 24 times at once, and unregisters', async (scene) => {
  const { router, relay } = await scene.started({ transport: 'wss' });
  expectRight(await router.ask({ count: 300, inFlight: 24, firstJobId: 1000, verdicts: MIXED }));
  const same = { count: 24, inFlight: 24, sameJob: true } as const;
  expectRight(await router.ask({ ...same, firstJobId: 5000, verdicts: ['admit'] }));
  expectRight(await router.ask({ ...same, firstJobId: 5001, verdicts: ['image'] }));
  await expectSameCounts(router, relay);
  let streams: readonly number[] = [];
  const areSame = async (): Promise<boolean> => {
    const { waiting = 0 } = await router.report();
    streams = [
      await relay.gauge('tollgate_relay_streams_open'),
      await relay.gauge('tollgate_relay_streams_waiting'),
      waiting,
    ];
    return streams.every((count) => count === waiting);
  };
  expect(await until(areSame), `open and waiting at the relay, at the router: ${streams}`).toBe(true);
  expect(await relay.drain(), 'exit code after SIGTERM').toBe(0);
  const { refused = 0, registered, unregistered, second = 0 } = await router.report();
  expect({ refused, registered, unregistered, second }).toEqual({
    ...{ refused: 0, registered: 1, unregistered: 1, second: 0 },
  });
});

phase('rejects no job before its schema is proven', async (scene) => {
  const router = await scene.router({ transport: 'grpc' });
  await scene.relay(router);
  expect(await router.waits(4)).toBe(true);
  const first = { count: 4, inFlight: 1, sameJob: true, firstJobId: 1 } as const;
  expectRight(await router.ask({ ...first, verdicts: ['pass'] }));
  await warmUp(router, 100);
  const load = { count: 40, inFlight: 8, firstJobId: 1000 } as const;
  expectRight(await router.ask({ ...load, verdicts: ['image', 'blocked'] }));
});

/** Expensive to read; the relay may read them or give up. */
const EXPENSIVE = ['empty-variables', 'varints', 'deep-groups', 'deep-services', 'bad-utf8'];
const UNREADABLE = ['beyond-4-mib', 'cut-off', 'bad-tag', 'endless-varint', 'no-id'];

phase(
  'spends less CPU on a hostile message than on 100 ordinary ones, with 256 MB of heap',
  async (scene) => {
    const { router, relay } = await scene.started({ transport: 'grpc' }, { heapMb: 256 });
    const ordinary = { count: 100, inFlight: 8, verdicts: ['admit', 'image'] } as const;
    const cpuMs = (): number => relay.cpuMs() ?? 0;
    let startMs = cpuMs();
    expectRight(await router.ask({ ...ordinary, firstJobId: 1000 }));
    const ordinaryMs = cpuMs() - startMs;
    let firstJobId = 2000;
    for (const shape of [...EXPENSIVE, ...UNREADABLE]) {
      firstJobId += 10;
      startMs = cpuMs();
      const one = { count: 1, inFlight: 1, firstJobId, shapes: [shape] } as const;
      expectRight(await router.ask({ ...one, verdicts: ['admit'] }), shape);
      expect(cpuMs() - startMs, `CPU ms of ${shape}`).toBeLessThanOrEqual(ordinaryMs);
    }
    // Broken messages may leave the schema suspect. Ordinary ones prove it again.
    await warmUp(router, 4000);
    expectRight(await router.ask({ ...ordinary, firstJobId: 3000 }));
    const { unreadable, fallback } = await relay.counts();
    expect(unreadable).toBeGreaterThanOrEqual(UNREADABLE.length);
    expect(unreadable).toBeLessThanOrEqual(UNREADABLE.length + EXPENSIVE.length);
    expect(fallback).toBe(unreadable);
    await expectSameCounts(router, relay, { fallback, unreadable });
  },
);

const DRAINS = 2;
const CONNECT_MS_MAX = 30_000;

phase(`loses no job while ${DRAINS} relays are replaced one after the other`, async (scene) => {
  const { router, relay } = await scene.started({ transport: 'ws' });
  // Few in flight, so that pools stay small and a leaving relay's waiting streams are soon used.
  const load = router.ask({ inFlight: 12, perSecond: 150, firstJobId: 1000, verdicts: ['admit'] });
  const relays: RelayProcess[] = [relay];
  const exits: Promise<number | null>[] = [];
  for (let drain = 0; drain < DRAINS; drain += 1) {
    const next = await scene.relay(router);
    expect(await until(async () => (await next.health()).waitingStreams > 0, CONNECT_MS_MAX)).toBe(true);
    const oldest = relays.at(-1);
    if (oldest !== undefined) exits.push(oldest.drain());
    relays.push(next);
  }
  const codes = await Promise.all(exits);
  await router.stop();
  expectRight(await load);
  expect([...codes, await relays.at(-1)?.drain()]).toEqual(Array(DRAINS + 1).fill(0));
  const { questions, admitted, rejected = 0 } = await router.report();
  const written = relays.map((each) => each.written());
  const sum = (count: keyof (typeof written)[number]): number =>
    written.reduce((total, each) => total + each[count], 0);
  expect([sum('requests'), sum('admitted'), sum('rejected')]).toEqual([questions, admitted, rejected]);
  expect([sum('fallback'), sum('unreadable')]).toEqual([0, 0]);
});
