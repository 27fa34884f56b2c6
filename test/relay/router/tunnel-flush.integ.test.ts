/** What one end of the tunnel was given reaches the other, also when the giver closes right afterwards. */
import type { AddressInfo } from 'node:net';
import { connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { openTunnel } from '../../../relay/router/tunnel.ts';
import { literalToken } from '../../../relay/token.ts';

/** More than the buffers of the sockets between the two ends. */
const FRAMES = 64;
const FRAME = Buffer.alloc(128 * 1024, 7);

/** A tunnel, what grpc-js would hold of it, and the router's end. */
async function aTunnel(): Promise<{ readonly near: Socket; readonly far: WebSocket }> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, handleProtocols: () => 'ws-tunnel' });
  await new Promise<void>((resolve) => server.once('listening', () => resolve()));
  const tunnel = openTunnel({
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: literalToken('glrct-test'),
    userAgent: 'tollgate-test/1',
    tls: {},
    messageBytesMax: 10 * 1024 * 1024,
    failed: () => {},
  });
  const accepted = new Promise<WebSocket>((resolve) => server.once('connection', resolve));
  const near = connect(tunnel.address.replace(/^unix:/, ''));
  near.pause();
  const far = await accepted;
  onTestFinished(() => {
    near.destroy();
    tunnel.close();
    server.close();
    far.terminate();
  });
  return { near, far };
}

/** Below and beyond what the kernel takes, so that some of it is still in this process when the WebSocket closes. */
const SIZES_KB = Array.from({ length: 25 }, (_, index) => 128 + index * 16);

test('what the router sent before it closed the WebSocket is read to the end', async () => {
  const lost: number[] = [];
  for (const sizeKb of SIZES_KB) {
    const { near, far } = await aTunnel();
    for (let kb = 0; kb < sizeKb; kb += 1) far.send(FRAME.subarray(0, 1_024));
    far.close();
    for (let turn = 0; turn < 100; turn += 1) await setImmediate();
    let bytes = 0;
    near.on('data', (chunk) => {
      bytes += chunk.length;
    });
    near.resume();
    await new Promise((resolve) => near.once('close', resolve));
    if (bytes < sizeKb * 1_024) lost.push(sizeKb * 1_024 - bytes);
  }
  expect(lost).toEqual([]);
});

test('what the relay wrote before it closed its end reaches the router', async () => {
  const { near, far } = await aTunnel();
  let bytes = 0;
  far.on('message', (frame: Buffer) => {
    bytes += frame.length;
  });
  far.pause();
  for (let frame = 0; frame < FRAMES; frame += 1) near.write(FRAME);
  near.end();
  near.resume();
  far.resume();
  await new Promise((resolve) => far.once('close', resolve));
  expect(bytes).toBe(FRAMES * FRAME.length);
});
