/** Cases that mostly wait. They run next to those of conformance.integ.test.ts. */
import { beforeAll, expect, test } from 'vitest';
import { until } from '../../../scripts/proof/relay-process.ts';
import { buildPeer, isWanted } from './peer.ts';
import { expectRight, expectSameCounts, Scene } from './scene.ts';

let program = '';
beforeAll(() => {
  if (isWanted) program = buildPeer();
});

/** A ping every 25 s with its timeout fits, one every 55 s does not. */
const NOTICED_MS = 60_000;

test.skipIf(!isWanted).concurrent('notices a silent connection by its pings and reconnects', async () => {
  const scene = new Scene(program);
  try {
    const { router } = await scene.started({ transport: 'wss' });
    await router.act('freeze');
    expect(await router.waits(4, NOTICED_MS)).toBe(true);
    const load = { count: 50, inFlight: 8, firstJobId: 1000 } as const;
    expectRight(await router.ask({ ...load, verdicts: ['admit', 'image'] }));
  } finally {
    await scene.close();
  }
});

/** Longer than a minute with jitter, shorter than the three minutes between registrations. */
const REGISTERED_AGAIN_MS = 90_000;

test
  .skipIf(!isWanted)
  .concurrent('registers again although waiting streams fill the connection', async () => {
    const scene = new Scene(program);
    try {
      // The first registration fails. Then waiting streams take all 20 streams of the connection.
      const flags = ['-streams', '20', '-refusals', '1'];
      const { router, relay } = await scene.started({ transport: 'ws', flags });
      const load = { count: 400, inFlight: 100, firstJobId: 1000 } as const;
      expectRight(await router.ask({ ...load, verdicts: ['admit'] }));
      expect(await router.waits(20)).toBe(true);
      const isRegistered = async (): Promise<boolean> => ((await router.report()).registered ?? 0) >= 2;
      expect(await until(isRegistered, REGISTERED_AGAIN_MS)).toBe(true);
      await expectSameCounts(router, relay);
    } finally {
      await scene.close();
    }
  });
