import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PlayedGitLab {
  /** `http://127.0.0.1:41234` */
  readonly url: string;
  close(): void;
}

const DISCOVERY = '/.well-known/openid-configuration';

/** As much of GitLab's OpenID Connect as leads somebody to its sign-in: where that is. */
export async function playGitLab(): Promise<PlayedGitLab> {
  let url = '';
  const server = createServer((request, response) => {
    const known = request.url === DISCOVERY;
    response.writeHead(known ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(known ? discoveryOf(url) : {}));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

const discoveryOf = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/oauth/authorize`,
  token_endpoint: `${issuer}/oauth/token`,
  jwks_uri: `${issuer}/oauth/discovery/keys`,
  response_types_supported: ['code'],
  code_challenge_methods_supported: ['S256'],
});
