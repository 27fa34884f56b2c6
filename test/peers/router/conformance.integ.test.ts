/** The relay as a process against a job router that shares no code with it: see README.md. */
import { beforeAll, expect, onTestFailed, test } from 'vitest';
import { METRIC_STREAMS_OPEN, METRIC_STREAMS_WAITING } from '../../../relay/names.ts';
import { type RelayProcess, until } from '../../../scripts/proof/relay-process.ts';
import { buildPeer, isWanted } from './peer.ts';
import { askedIn, caughtUp, expectRight, expectSameCounts, lostIn, Scene, warmUp } from './scene.ts';

let program = '';
beforeAll(() => {
  if (isWanted) program = buildPeer();
});

function phase(name: string, run: (scene: Scene) => Promise<void>): void {
  test.skipIf(!isWanted)(name, async () => {
    const scene = new Scene(program);
    onTestFailed(() => void process.stderr.write(`${scene.lastLines()}\n`));
    try {
      await run(scene);
    } finally {
      await scene.close();
    }
  });
}

const MIXED = ['admit', 'image', 'blocked'] as const;

for (const transport of ['grpc', 'ws', 'grpcs', 'wss'] as const)
  phase(
    `decides 600 jobs over ${transport}, then one job 24 times at once, and unregisters`,
    async (scene) => {
      const { router, relay } = await scene.started({ transport });
      expectRight(await router.ask({ count: 600, inFlight: 24, firstJobId: 1000, verdicts: MIXED }));
      const same = { count: 24, inFlight: 24, sameJob: true } as const;
      expectRight(await router.ask({ ...same, firstJobId: 5000, verdicts: ['admit'] }));
      expectRight(await router.ask({ ...same, firstJobId: 5001, verdicts: ['image'] }));
      await expectSameCounts(router, relay);
      let streams: readonly number[] = [];
      const areSame = async (): Promise<boolean> => {
        const { waiting = 0 } = await router.report();
        streams = [
          await relay.gauge(METRIC_STREAMS_OPEN),
          await relay.gauge(METRIC_STREAMS_WAITING),
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
    },
  );

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

phase('connects with a new token once the old one is revoked and its file has changed', async (scene) => {
  const { router, relay } = await scene.started({ transport: 'wss' });
  await caughtUp(router, relay);
  await router.changeToken('glrct-peer-the-second');
  const isRefused = (await router.waits(1, 2_000)) || ((await router.report()).refused ?? 0) > 0;
  expect(isRefused, 'the old token is refused').toBe(true);
  scene.writeToken('glrct-peer-the-second');
  expect(await router.waits(4, 20_000), 'a relay connects').toBe(true);
  const load = { count: 100, inFlight: 8, firstJobId: 1000 } as const;
  expectRight(await router.ask({ ...load, verdicts: ['admit', 'image'] }));
  await expectSameCounts(router, relay);
});

phase('loses no job while every connection gets GOAWAY after a second', async (scene) => {
  const flags = ['-age', '1s', '-grace', '4s'];
  const { router, relay } = await scene.started({ transport: 'ws', flags });
  const load = { count: 1200, inFlight: 32, perSecond: 200, firstJobId: 1000 } as const;
  expectRight(await router.ask({ ...load, verdicts: MIXED }));
  await expectSameCounts(router, relay);
  expect((await router.report()).connections).toBeGreaterThanOrEqual(4);
});

phase('decides 100 jobs at once over connections of 20 streams, registers and unregisters', async (scene) => {
  const { router, relay } = await scene.started({ transport: 'grpc', flags: ['-streams', '20'] });
  const load = { count: 800, inFlight: 100, firstJobId: 1000 } as const;
  expectRight(await router.ask({ ...load, verdicts: ['admit', 'image'] }));
  await expectSameCounts(router, relay);
  expect(await relay.drain()).toBe(0);
  expect(await router.report()).toMatchObject({ registered: 1, unregistered: 1 });
});

phase('shows no open stream during an outage, and reconnects after it', async (scene) => {
  const { router, relay } = await scene.started({ transport: 'ws' });
  await caughtUp(router, relay);
  await router.act('away');
  const isClosed = async (): Promise<boolean> => (await relay.gauge(METRIC_STREAMS_OPEN)) === 0;
  expect(await until(isClosed, 6_000)).toBe(true);
  await router.act('back');
  expect(await router.waits(4), 'a relay reconnects').toBe(true);
  expectRight(await router.ask({ count: 200, inFlight: 16, firstJobId: 1000, verdicts: MIXED }));
  await expectSameCounts(router, relay);
});

phase('counts responses as unheard if the connection is reset before they are read', async (scene) => {
  const { router, relay } = await scene.started({ transport: 'grpc' });
  await caughtUp(router, relay);
  const { questions = 0, waiting = 0 } = await router.report();
  await router.act('deaf');
  const unread = router.ask({ count: waiting, inFlight: waiting, firstJobId: 1000, verdicts: ['admit'] });
  expect(await until(async () => (await relay.counts()).questions >= questions + waiting)).toBe(true);
  expect(await until(async () => (await relay.health()).openJobs === 0)).toBe(true);
  await router.act('reset');
  expect(lostIn(await unread)).toBe(waiting);
  await until(async () => (await relay.counts()).unheard === waiting, 5_000);
  const { admitted, rejected, unheard } = await relay.counts();
  expect([admitted + rejected, unheard]).toEqual([questions + waiting, waiting]);
  expect(await router.waits(4), 'a relay reconnects').toBe(true);
  expectRight(await router.ask({ count: 100, inFlight: 8, firstJobId: 2000, verdicts: ['admit', 'image'] }));
});

phase('opens new streams while the router ends none of the answered ones', async (scene) => {
  const flags = ['-hold-ends', '-find', '8s'];
  const { router, relay } = await scene.started({ transport: 'grpc', flags });
  const load = { count: 1400, inFlight: 100, firstJobId: 1000 } as const;
  expectRight(await router.ask({ ...load, verdicts: ['admit', 'image'] }));
  await router.act('release');
  await expectSameCounts(router, relay, { unheard: 'any' });
});

/** Legal messages, decided like any other. */
const ODD = ['unknown-fields', 'groups', 'job-info-twice', 'long-varint', 'contradicting-variables', 'plain'];

phase('decides odd but legal messages, and images with invisible characters', async (scene) => {
  const { router, relay } = await scene.started({ transport: 'ws' });
  const odd = { count: 300, inFlight: 16, firstJobId: 1000, shapes: ODD } as const;
  expectRight(await router.ask({ ...odd, verdicts: MIXED }));
  const invisible = { count: 20, inFlight: 4, firstJobId: 2000, shapes: ['invisible'] } as const;
  expectRight(await router.ask({ ...invisible, verdicts: ['image'] }));
  await expectSameCounts(router, relay);
});

/** Expensive to read; the relay may read them or give up. */
const EXPENSIVE = ['empty-variables', 'varints', 'deep-groups', 'deep-services', 'bad-utf8'];
const UNREADABLE = ['beyond-4-mib', 'cut-off', 'bad-tag', 'endless-varint', 'no-id'];

phase(
  'spends less CPU on a hostile message than on 100 ordinary ones, with 256 MB of heap',
  async (scene) => {
    const flags = ['-patience', '15s'];
    const { router, relay } = await scene.started({ transport: 'grpc', flags }, { heapMb: 256 });
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

for (const schema of ['moved', 'retyped'] as const)
  phase(`rejects no job while an upgraded router sends a field ${schema}`, async (scene) => {
    const { router, relay } = await scene.started({ transport: 'ws' });
    const good = { count: 60, inFlight: 8, verdicts: MIXED } as const;
    expectRight(await router.ask({ ...good, firstJobId: 1000 }));
    const load = { count: 200, inFlight: 8, firstJobId: 2000, schema } as const;
    const changed = await router.ask({ ...load, verdicts: ['pass'] });
    expectRight(changed);
    expect(changed.outcomes.rejected ?? 0).toBe(0);
    await warmUp(router, 3000);
    expectRight(await router.ask({ ...good, firstJobId: 4000 }));
    const asked = askedIn(changed);
    await expectSameCounts(router, relay, { fallback: asked, unreadable: asked });
  });

const DRAINS = 10;

phase(`loses no job while ${DRAINS} relays are replaced one after the other`, async (scene) => {
  const { router, relay } = await scene.started({ transport: 'ws' });
  // Few in flight, so that pools stay small and a leaving relay's waiting streams are soon used.
  const load = router.ask({ inFlight: 12, perSecond: 150, firstJobId: 1000, verdicts: ['admit'] });
  const relays: RelayProcess[] = [relay];
  const exits: Promise<number | null>[] = [];
  for (let drain = 0; drain < DRAINS; drain += 1) {
    const next = await scene.relay(router);
    await next.connected();
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
  expect([sum('questions'), sum('admitted'), sum('rejected')]).toEqual([questions, admitted, rejected]);
  expect([sum('fallback'), sum('unreadable')]).toEqual([0, 0]);
});
