import { expectSameBooks, warmUp } from '../books.ts';
import { type Phase, questionsOf } from '../phase.ts';

/** Legal, if odd: read and decided like any other. */
const ODD = ['unknown-fields', 'groups', 'job-info-twice', 'long-varint', 'contradicting-variables', 'plain'];
/** Dear to read; whether they are read or given up is the relay's choice. */
const DEAR = ['empty-variables', 'varints', 'deep-groups', 'deep-services', 'bad-utf8'];
/** Beyond reading. */
const UNREADABLE = ['beyond-4-mib', 'cut-off', 'bad-tag', 'endless-varint', 'no-id'];

export const oddQuestions: Phase = {
  name: 'odd questions',
  says: 'unknown fields, groups, messages that come twice, long varints, contradicting variables, invisible characters',
  run: async (scene) => {
    const router = await scene.router({ transport: 'ws' });
    const relay = await scene.relay(router);
    await warmUp(scene, router);
    const load = { count: 300, inFlight: 16, firstJobId: 1000, shapes: ODD } as const;
    scene.expectRight('odd ones', await router.ask({ ...load, verdicts: ['admit', 'image', 'blocked'] }));
    const invisible = { count: 20, inFlight: 4, firstJobId: 2000, shapes: ['invisible'] } as const;
    scene.expectRight(
      'an image with invisible characters',
      await router.ask({ ...invisible, verdicts: ['image'] }),
    );
    await expectSameBooks(scene, router, relay);
  },
};

/** As many ordinary questions must cost more than the dearest one. */
const ORDINARY = 100;
/** As in a small container. */
const HEAP_MB = 256;

export const hostileQuestions: Phase = {
  name: 'hostile questions',
  says: `4 MiB of nothing, deep nesting, broken messages; each costs less than ${ORDINARY} ordinary questions, with ${HEAP_MB} MB of heap`,
  run: async (scene) => {
    const router = await scene.router({ transport: 'grpc', flags: ['-patience', '15s'] });
    const relay = await scene.relay(router, { heapMb: HEAP_MB });
    await warmUp(scene, router);
    const ordinary = {
      count: ORDINARY,
      inFlight: 8,
      firstJobId: 1000,
      verdicts: ['admit', 'image'],
    } as const;
    const before = relay.cpuMs();
    scene.expectRight('ordinary ones', await router.ask(ordinary));
    const ordinaryMs = before === undefined ? undefined : (relay.cpuMs() ?? 0) - before;
    let firstJobId = 2000;
    for (const shape of [...DEAR, ...UNREADABLE]) {
      firstJobId += 10;
      const startMs = relay.cpuMs() ?? 0;
      const tally = await router.ask({
        count: 1,
        inFlight: 1,
        firstJobId,
        shapes: [shape],
        verdicts: ['admit'],
      });
      scene.expectRight(shape, tally);
      // A relay that died with it has no more to tell.
      if (questionsOf(tally).lost > 0) return;
      const spentMs = (relay.cpuMs() ?? 0) - startMs;
      if (ordinaryMs !== undefined)
        scene.expectThat(`${shape}: CPU`, spentMs <= ordinaryMs, `${spentMs} ms`, `at most ${ordinaryMs} ms`);
    }
    // Broken messages may leave the schema suspect. Ordinary questions prove it again.
    await warmUp(scene, router, 4000);
    scene.expectRight('afterwards', await router.ask({ ...ordinary, firstJobId: 3000 }));
    const { unreadable, fallback } = await relay.counts();
    const [least, most] = [UNREADABLE.length, UNREADABLE.length + DEAR.length];
    const due = `${least} to ${most}`;
    scene.expectThat('unreadable to the relay', unreadable >= least && unreadable <= most, unreadable, due);
    scene.expect('answered without the ledger', fallback, unreadable);
    await expectSameBooks(scene, router, relay, { fallback, unreadable });
  },
};

/** The router is upgraded under the relay. Nobody can be judged by what cannot be read, and nobody is rejected for it. */
export const wireChange = (schema: 'moved' | 'retyped', says: string): Phase => ({
  name: `field ${schema}`,
  says,
  run: async (scene) => {
    const router = await scene.router({ transport: 'ws' });
    const relay = await scene.relay(router);
    await warmUp(scene, router);
    const good = { count: 60, inFlight: 8, verdicts: ['admit', 'image', 'blocked'] } as const;
    scene.expectRight('before', await router.ask({ ...good, firstJobId: 1000 }));
    const changed = await router.ask({
      count: 200,
      inFlight: 8,
      firstJobId: 2000,
      verdicts: ['pass'],
      schema,
    });
    scene.expectRight('after the change', changed);
    scene.expect('rejected after the change', changed.outcomes.rejected ?? 0, 0);
    await warmUp(scene, router, 3000);
    scene.expectRight('once the router is as before', await router.ask({ ...good, firstJobId: 4000 }));
    const { asked } = questionsOf(changed);
    await expectSameBooks(scene, router, relay, { fallback: asked, unreadable: asked });
  },
});
