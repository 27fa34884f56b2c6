/** A fault that cuts questions off has begun only when the router knows: whoever is asked afterwards lives. */
import { afterEach, expect, test } from 'vitest';
import { type LocalRouter, startLocalRouter } from '../../../../scripts/local/router/local-router.ts';
import { FAULTS } from '../../../../scripts/proof/chaos/faults.ts';
import type { ChaosScene } from '../../../../scripts/proof/chaos/scene.ts';
import { startFaultProxy } from '../../../support/fault-proxy.ts';
import { TOKEN } from '../../../support/flow/flow.ts';
import { bareClient } from '../../local/router/bare-client.ts';

const STREAMS = 40;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const way = { become: () => {} };

/** A router with the streams of two relays. */
async function aScene() {
  const router = await startLocalRouter({
    controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }],
    wsPort: 'off',
  });
  ends.push(() => router.close());
  const openRelay = async () => {
    const proxy = await startFaultProxy(Number(new URL(router.grpcUrl ?? '').port));
    ends.push(() => proxy.close());
    const client = bareClient(`grpc://127.0.0.1:${proxy.port}`, { schema: router.schema, token: TOKEN });
    ends.push(() => client.close());
    for (let opened = 0; opened < STREAMS; opened += 1) client.open().question.catch(() => {});
    return { toAdmit: way, toTable: way, kill: async () => void proxy.reset() };
  };
  const relays = [await openRelay(), await openRelay()];
  await router.until(() => router.waitingStreams() === 2 * STREAMS);
  return { router, relays, admitToTable: way, settleToTable: way };
}

const begin = (name: string, scene: { readonly router: LocalRouter }): unknown =>
  FAULTS.find((fault) => fault.name === name)?.begin(scene as unknown as ChaosScene, 0);

test('cut off from the relays, the router has no stream left to ask on', async () => {
  const scene = await aScene();
  await begin('router cut off from the relays', scene);
  expect(scene.router.waitingStreams()).toBe(0);
});

test.each(FAULTS.filter(({ name }) => name.endsWith('relay killed')))(
  '$name: the router has the streams of the other one alone',
  async ({ name }) => {
    const scene = await aScene();
    await begin(name, scene);
    expect([scene.router.connections(), scene.router.waitingStreams()]).toEqual([1, STREAMS]);
  },
);
