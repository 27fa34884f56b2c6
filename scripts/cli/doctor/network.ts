import { connect as connectTcp, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { getProxyForUrl } from 'proxy-from-env';
import { remedyOfNetwork } from '../../../relay/router/router.ts';
import type { RouterTarget, TlsMaterial } from '../../../relay/router/target.ts';
import { type DoctorFinding, note, ok, problem } from './finding.ts';

const CONNECT_MS_MAX = 5_000;

/** Checks TCP and TLS separately, to distinguish a firewall, a wrong name and a wrong certificate. */
export async function checkNetwork(
  target: RouterTarget,
  tls: TlsMaterial,
): Promise<readonly DoctorFinding[]> {
  const proxy = target.tunnel ? getProxyForUrl(target.url.replace(/^ws/, 'http')) : '';
  if (proxy !== '') {
    return [note('network', `through the proxy ${new URL(proxy).host} (HTTP_PROXY, HTTPS_PROXY, NO_PROXY)`)];
  }
  const tcp = await checkTcp(target);
  if (tcp.outcome === 'problem' || !target.secure) return [tcp];
  return [tcp, await checkTls(target, tls)];
}

function checkTcp({ host, port }: RouterTarget): Promise<DoctorFinding> {
  return new Promise((resolve) => {
    const socket = connectTcp({ host, port, timeout: CONNECT_MS_MAX });
    const done = (finding: DoctorFinding): void => {
      socket.destroy();
      resolve(finding);
    };
    socket.on('connect', () =>
      done(ok('network', `${host} is ${socket.remoteAddress}, port ${port} is open`)),
    );
    socket.on('timeout', () =>
      done(
        problem(
          'network',
          `${host}:${port} does not answer within 5 s`,
          'a firewall between here and the router?',
        ),
      ),
    );
    socket.on('error', (error: NodeJS.ErrnoException) =>
      done(problem('network', error.message, remedyOfNetwork(error))),
    );
  });
}

function checkTls({ host, port }: RouterTarget, tls: TlsMaterial): Promise<DoctorFinding> {
  return new Promise((resolve) => {
    const socket = connectTls({
      host,
      port,
      ...tls,
      ...(isIP(host) === 0 && { servername: host }),
      ALPNProtocols: ['h2', 'http/1.1'],
      timeout: CONNECT_MS_MAX,
    });
    const done = (finding: DoctorFinding): void => {
      socket.destroy();
      resolve(finding);
    };
    socket.on('secureConnect', () =>
      done(
        ok('tls', `${socket.getProtocol()}, certificate valid until ${socket.getPeerCertificate().valid_to}`),
      ),
    );
    socket.on('timeout', () => done(problem('tls', 'no handshake within 5 s', 'does this port speak TLS?')));
    socket.on('error', (error: NodeJS.ErrnoException) =>
      done(problem('tls', error.message, remedyOfNetwork(error))),
    );
  });
}
