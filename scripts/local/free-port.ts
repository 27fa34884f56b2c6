import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Returns a free port of loopback. @throws {Error} if there is none */
export async function loopbackPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
