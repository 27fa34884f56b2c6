import { METRIC_STREAMS_OPEN } from '../../../../relay/names.ts';
import { caughtUp, expectSameBooks, warmUp } from '../books.ts';
import { type Phase, questionsOf } from '../phase.ts';
import { until } from '../until.ts';

/** Connections get GOAWAY every second, their idle streams end with OK, and what is left is cut 4 s later. */
export const ageing: Phase = {
  name: 'ageing connections',
  says: '1200 questions while every connection gets GOAWAY after a second',
  run: async (scene) => {
    const router = await scene.router({ transport: 'ws', flags: ['-age', '1s', '-grace', '4s'] });
    const relay = await scene.relay(router);
    await warmUp(scene, router);
    const load = { count: 1200, inFlight: 32, perSecond: 200, firstJobId: 1000 } as const;
    scene.expectRight('meanwhile', await router.ask({ ...load, verdicts: ['admit', 'image', 'blocked'] }));
    await expectSameBooks(scene, router, relay);
    const { connections = 0 } = await router.report();
    scene.expectThat('connections', connections >= 4, connections, 'at least 4');
  },
};

/** HTTP/2 lets the server say how many streams a connection may have; the rest waits in the client, unseen. */
export const streamLimit: Phase = {
  name: '20 streams per connection',
  says: '800 questions, 100 at once, through connections that carry 20; the relay registers and says goodbye',
  run: async (scene) => {
    const router = await scene.router({ transport: 'grpc', flags: ['-streams', '20'] });
    const relay = await scene.relay(router);
    await warmUp(scene, router);
    const load = { count: 800, inFlight: 100, firstJobId: 1000, verdicts: ['admit', 'image'] } as const;
    scene.expectRight('100 at once', await router.ask(load));
    await expectSameBooks(scene, router, relay);
    scene.expect('exit code after SIGTERM', await relay.drain(), 0);
    const { registered, unregistered } = await router.report();
    scene.expect('registrations', registered, 1);
    scene.expect('goodbyes', unregistered, 1);
  },
};

/** Longer than a minute and its jitter, shorter than the three minutes between registrations. */
const REGISTERED_AGAIN_MS = 90_000;

/** Waiting streams fill the connection for good: nothing else gets through it. */
export const crowded: Phase = {
  name: 'registration beside full streams',
  says: 'the first registration fails, then 20 waiting streams take all there is of a connection; the relay registers again',
  run: async (scene) => {
    const router = await scene.router({ transport: 'ws', flags: ['-streams', '20', '-refusals', '1'] });
    const relay = await scene.relay(router);
    await warmUp(scene, router);
    const load = { count: 400, inFlight: 100, firstJobId: 1000, verdicts: ['admit'] } as const;
    scene.expectRight('100 at once', await router.ask(load));
    scene.expect('the connection is full', await router.waits(20), true);
    const again = async (): Promise<boolean> => ((await router.report()).registered ?? 0) >= 2;
    scene.expect('the relay registers again', await until(again, REGISTERED_AGAIN_MS), true);
    await expectSameBooks(scene, router, relay);
  },
};

/** The router is away: the relay says so, and is back by itself. */
export const outage: Phase = {
  name: 'outage',
  says: 'the door closes and every connection is reset; the relay shows no stream, and is back when the door opens',
  run: async (scene) => {
    const router = await scene.router({ transport: 'ws' });
    const relay = await scene.relay(router);
    await warmUp(scene, router);
    await caughtUp(router, relay);
    await router.act('away');
    let open = 0;
    const none = await until(async () => {
      open = await relay.gauge(METRIC_STREAMS_OPEN);
      return open === 0;
    }, 6_000);
    scene.expectThat('open streams while the router is away', none, open, '0');
    await router.act('back');
    scene.expect('a relay is back', await router.waits(4), true);
    const load = {
      count: 200,
      inFlight: 16,
      firstJobId: 1000,
      verdicts: ['admit', 'image', 'blocked'],
    } as const;
    scene.expectRight('after the outage', await router.ask(load));
    await expectSameBooks(scene, router, relay);
  },
};

/** The answers were written and never read: the relay must not believe they were heard. */
export const reset: Phase = {
  name: 'reset before the answers are read',
  says: 'the router asks, reads nothing more, and resets the connection once every answer is on its way',
  run: async (scene) => {
    const router = await scene.router({ transport: 'grpc' });
    const relay = await scene.relay(router);
    await warmUp(scene, router);
    await caughtUp(router, relay);
    const { questions = 0, waiting = 0 } = await router.report();
    await router.act('deaf');
    const unread = router.ask({ count: waiting, inFlight: waiting, firstJobId: 1000, verdicts: ['admit'] });
    const arrived = await until(async () => (await relay.counts()).questions >= questions + waiting);
    scene.expect('the questions arrive', arrived, true);
    scene.expect('they are answered', await until(async () => (await relay.health()).openJobs === 0), true);
    await router.act('reset');
    scene.expect('questions whose answer was cut off', questionsOf(await unread).lost, waiting);
    let told = '';
    const honest = await until(async () => {
      const { admitted, rejected, unheard } = await relay.counts();
      const heard = admitted + rejected - unheard;
      told = `${heard} heard`;
      return admitted + rejected === questions + waiting && heard === questions;
    }, 5_000);
    scene.expectThat('answers the relay believes were heard', honest, told, `${questions} heard`);
    scene.expect('a relay is back', await router.waits(4), true);
    scene.expectRight(
      'after the reset',
      await router.ask({ count: 100, inFlight: 8, firstJobId: 2000, verdicts: ['admit', 'image'] }),
    );
  },
};

/** Longer than a ping every 25 s and its timeout, shorter than one every 55 s and its. */
const NOTICED_MS = 60_000;

/** Nothing comes any more and nobody says so: only the relay's own pings can tell. */
export const halfOpen: Phase = {
  name: 'half-open connection',
  says: 'the way is cut without a word; the relay notices by its pings and dials anew',
  run: async (scene) => {
    const router = await scene.router({ transport: 'wss' });
    await scene.relay(router);
    await warmUp(scene, router);
    await router.act('freeze');
    scene.expect('a relay is back within a minute', await router.waits(4, NOTICED_MS), true);
    scene.expectRight(
      'afterwards',
      await router.ask({ count: 50, inFlight: 8, firstJobId: 1000, verdicts: ['admit', 'image'] }),
    );
  },
};

/** A router that is slow to end streams must not use up the relay's places. */
export const slowEnds: Phase = {
  name: 'slow ends',
  says: '1400 questions while the router ends no stream that was answered; none waits 8 s for a stream',
  run: async (scene) => {
    const router = await scene.router({ transport: 'grpc', flags: ['-hold-ends', '-find', '8s'] });
    const relay = await scene.relay(router);
    await warmUp(scene, router);
    const load = { count: 1400, inFlight: 100, firstJobId: 1000, verdicts: ['admit', 'image'] } as const;
    scene.expectRight('meanwhile', await router.ask(load));
    await router.act('release');
    await expectSameBooks(scene, router, relay, { unheard: 'any' });
  },
};
