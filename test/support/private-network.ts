/** A server that is reached through a proxy with a password only, and whose certificate a private authority signed. */
import { type AddressInfo, connect } from 'node:net';
import { createServer } from 'node:tls';
import { cert, key } from '../../scripts/proof/bench/self-signed.ts';
import { startConnectProxy } from './connect-proxy.ts';

/** Characters that an address would have to escape. */
export const PROXY_CREDENTIALS = 'tollgate:p@ss/word:1';

/** @param plainPort - where the server listens without TLS. */
export async function startPrivateNetwork(plainPort: number) {
  const front = createServer({ key, cert, ALPNProtocols: ['h2', 'http/1.1'] }, (secure) => {
    const plain = connect(plainPort, '127.0.0.1');
    secure.on('error', () => plain.destroy());
    plain.on('error', () => secure.destroy());
    secure.pipe(plain).pipe(secure);
  });
  front.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  const proxy = await startConnectProxy({
    credentials: PROXY_CREDENTIALS,
    leadsTo: (front.address() as AddressInfo).port,
  });
  const [user = '', password = ''] = PROXY_CREDENTIALS.split(/:(.*)/s).map(encodeURIComponent);
  return {
    /** Nothing listens there: only the proxy leads to the server. */
    host: 'localhost:1',
    ca: cert,
    proxyUrl: proxy.url,
    proxyUrlWithCredentials: proxy.url.replace('//', `//${user}:${password}@`),
    /** What the proxy connected to. */
    targets: proxy.targets,
    async close() {
      await proxy.close();
      front.close();
    },
  };
}
