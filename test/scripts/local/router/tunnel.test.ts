import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type LocalRouter, startLocalRouter } from '../../../../scripts/local/router/local-router.ts';

let router: LocalRouter | undefined;

afterEach(async () => {
  await router?.close();
});

async function closeCodeOf(subprotocols: string[], send?: string): Promise<unknown> {
  router = await startLocalRouter({
    controllers: [{ id: 1, tokens: ['t'], state: 'enabled' }],
    grpcPort: 'off',
  });
  const socket = new WebSocket(router.wsUrl ?? '', subprotocols);
  socket.on('error', () => {});
  if (send !== undefined) socket.on('open', () => socket.send(send));
  const [code] = await once(socket, 'close');
  return code;
}

test('a tunnel that sends text is closed with 1003', async () => {
  expect(await closeCodeOf(['ws-tunnel'], 'hello')).toBe(1003);
  expect(router?.counters.violations.text_frame).toBe(1);
});

test('an upgrade without the subprotocol is closed with 1002, and the missing bearer is counted', async () => {
  expect(await closeCodeOf([])).toBe(1002);
  expect(router?.counters.violations.wrong_subprotocol).toBe(1);
  expect(router?.counters.connections).toMatchObject({ upgrades: 1, upgradesWithToken: 0 });
});

test('closing the router sends every waiting job away', async () => {
  router = await startLocalRouter({ controllers: [{ id: 1, tokens: ['t'], state: 'enabled' }] });
  const admission = router.admit({ id: 1 });
  await router.close();
  expect(await admission).toMatchObject({ result: 'failed', reason: 'Agent connection not found' });
});
