/** Rarer cases of conformance.integ.test.ts. Some mostly wait. */
import { expect } from 'vitest';
import { until } from '../../../scripts/local/timing.ts';
import { askedIn, caughtUp, expectRight, expectSameCounts, lostIn, MIXED, phase, warmUp } from './scene.ts';

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

phase('shows no open stream during an outage, and reconnects after it', async (scene) => {
  const { router, relay } = await scene.started({ transport: 'ws' });
  await caughtUp(router, relay);
  await router.act('away');
  const isClosed = async (): Promise<boolean> => (await relay.gauge('tollgate_relay_streams_open')) === 0;
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
  expect(await until(async () => (await relay.counts()).requests >= questions + waiting)).toBe(true);
  expect(await until(async () => (await relay.health()).openJobs === 0)).toBe(true);
  await router.act('reset');
  expect(lostIn(await unread)).toBe(waiting);
  await until(async () => (await relay.counts()).unheard === waiting, 5_000);
  const { admitted, rejected, unheard } = await relay.counts();
  expect([admitted + rejected, unheard]).toEqual([questions + waiting, waiting]);
  expect(await router.waits(4), 'a relay reconnects').toBe(true);
  expectRight(await router.ask({ count: 100, inFlight: 8, firstJobId: 2000, verdicts: ['admit', 'image'] }));
});

const ODD = ['unknown-fields', 'groups', 'job-info-twice', 'long-varint', 'contradicting-variables', 'plain'];

phase('decides odd but legal messages, and images with invisible characters', async (scene) => {
  const { router, relay } = await scene.started({ transport: 'ws' });
  const odd = { count: 300, inFlight: 16, firstJobId: 1000, shapes: ODD } as const;
  expectRight(await router.ask({ ...odd, verdicts: MIXED }));
  const invisible = { count: 20, inFlight: 4, firstJobId: 2000, shapes: ['invisible'] } as const;
  expectRight(await router.ask({ ...invisible, verdicts: ['image'] }));
  await expectSameCounts(router, relay);
});

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

/** A ping every 25 s with its timeout fits, one every 55 s does not. */
const NOTICED_MS = 60_000;

phase('notices a silent connection by its pings and reconnects', async (scene) => {
  const { router } = await scene.started({ transport: 'wss' });
  await router.act('freeze');
  expect(await router.waits(4, NOTICED_MS)).toBe(true);
  expectRight(await router.ask({ count: 50, inFlight: 8, firstJobId: 1000, verdicts: ['admit', 'image'] }));
});
