import { caughtUp, expectSameBooks, expectSameStreams, warmUp } from '../books.ts';
import type { Transport } from '../peer-router.ts';
import type { Phase } from '../phase.ts';

/** Nothing breaks: every transport carries every question and the right answer. */
export const everyDay = (transport: Transport): Phase => ({
  name: `every day over ${transport}`,
  says: `600 questions over ${transport}, then the same job 24 times at once; the relay says goodbye`,
  run: async (scene) => {
    const router = await scene.router({ transport });
    const relay = await scene.relay(router);
    await warmUp(scene, router);
    const mixed = {
      count: 600,
      inFlight: 24,
      firstJobId: 1000,
      verdicts: ['admit', 'image', 'blocked'],
    } as const;
    scene.expectRight('mixed jobs', await router.ask(mixed));
    const same = { count: 24, inFlight: 24, sameJob: true } as const;
    scene.expectRight(
      'one job again and again',
      await router.ask({ ...same, firstJobId: 5000, verdicts: ['admit'] }),
    );
    scene.expectRight(
      'a rejected job again',
      await router.ask({ ...same, firstJobId: 5001, verdicts: ['image'] }),
    );
    await expectSameBooks(scene, router, relay);
    await expectSameStreams(scene, router, relay);
    scene.expect('exit code after SIGTERM', await relay.drain(), 0);
    const { refused, registered, unregistered, second } = await router.report();
    scene.expect('registrations', registered, 1);
    scene.expect('goodbyes', unregistered, 1);
    scene.expect('calls without token or agent type', refused ?? 0, 0);
    scene.expect('second answers on one stream', second ?? 0, 0);
  },
});

/** A relay that has read nothing yet must not fail a job: its schema may be another router's. */
export const unproven: Phase = {
  name: 'unproven schema',
  says: 'the first questions of a relay, all of one project, are about an image that is denied: none is rejected',
  run: async (scene) => {
    const router = await scene.router({ transport: 'grpc' });
    await scene.relay(router);
    scene.expect('a relay waits for questions', await router.waits(4), true);
    const first = { count: 4, inFlight: 1, sameJob: true, firstJobId: 1 } as const;
    scene.expectRight('before anything was read', await router.ask({ ...first, verdicts: ['pass'] }));
    await warmUp(scene, router, 100);
    const later = await router.ask({
      count: 40,
      inFlight: 8,
      firstJobId: 1000,
      verdicts: ['image', 'blocked'],
    });
    scene.expectRight('once it is proven', later);
  },
};

/** A revoked token is refused; the new one is used as soon as it is there. */
export const newToken: Phase = {
  name: 'token changes',
  says: 'the token is revoked under the relay, and its file gets the new one afterwards',
  run: async (scene) => {
    const router = await scene.router({ transport: 'wss' });
    const relay = await scene.relay(router);
    await warmUp(scene, router);
    await caughtUp(router, relay);
    await router.changeToken('glrct-peer-the-second');
    const refused = async (): Promise<boolean> => ((await router.report()).refused ?? 0) > 0;
    scene.expect('the old token is refused', (await router.waits(1, 2_000)) || (await refused()), true);
    scene.writeToken('glrct-peer-the-second');
    scene.expect('a relay is back with the new token', await router.waits(4, 20_000), true);
    const tally = await router.ask({
      count: 100,
      inFlight: 8,
      firstJobId: 1000,
      verdicts: ['admit', 'image'],
    });
    scene.expectRight('with the new token', tally);
    await expectSameBooks(scene, router, relay);
  },
};
