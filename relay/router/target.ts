import { RelayError } from '../relay-error.ts';

/** Where the job router listens, and how it is spoken to. */
export interface RouterTarget {
  readonly scheme: 'grpc' | 'grpcs' | 'ws' | 'wss';
  /** Name or address, IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** Path of the WebSocket upgrade; empty for grpc and grpcs. */
  readonly path: string;
  /** TLS: by gRPC (grpcs) or around the WebSocket (wss). */
  readonly secure: boolean;
  /** gRPC inside a WebSocket. */
  readonly tunnel: boolean;
  /** What HTTP/2 calls the server: the host, with the port where it is not the scheme's own. */
  readonly authority: string;
  /** The whole URL, normal form. */
  readonly url: string;
}

const SCHEME = /^(grpcs?|wss?):\/\//;
const DEFAULT_PORT = { grpc: 80, grpcs: 443, ws: 80, wss: 443 } as const;

/**
 * Reads a router URL as GitLab Runner does: `grpc://`, `grpcs://`, `ws://`, `wss://`, default ports 80 and 443.
 *
 * @throws {RelayError} `config_invalid`, naming the value and the remedy; never repeating credentials.
 */
export function parseTarget(text: string): RouterTarget {
  const scheme = SCHEME.exec(text)?.[1] as RouterTarget['scheme'] | undefined;
  if (scheme === undefined) {
    throw invalid(withoutSecrets(text), 'must begin with grpc://, grpcs://, ws:// or wss://');
  }
  const secure = scheme === 'grpcs' || scheme === 'wss';
  const rest = text.slice(scheme.length);
  // As http(s), so that the host is checked as strictly as a browser would.
  const url = URL.parse(`${secure ? 'https' : 'http'}${rest}`);
  if (url === null) {
    throw invalid(
      withoutSecrets(text),
      'is not a URL; write it as wss://kas.example.com or grpc://host:8150',
    );
  }
  const shown = `${scheme}://${url.host}`;
  if (url.username !== '' || url.password !== '') {
    throw invalid(shown, 'carries credentials; give the token in a file of its own');
  }
  if (url.search !== '' || url.hash !== '') {
    throw invalid(shown, 'carries a query or fragment; leave everything from ? or # away');
  }
  if (url.port === '0') {
    throw invalid(shown, 'has port 0; give the port the router listens on');
  }
  const tunnel = scheme === 'ws' || scheme === 'wss';
  const path = url.pathname === '/' ? '' : url.pathname;
  if (!tunnel && path !== '') {
    throw invalid(`${shown}${path}`, `has a path, which gRPC has no use for; write ${shown}`);
  }
  const port = url.port === '' ? DEFAULT_PORT[scheme] : Number(url.port);
  return {
    scheme,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port,
    path,
    secure,
    tunnel,
    authority: url.host,
    url: `${shown}${path}`,
  };
}

/** A broken value may still hold a secret, or be one: the token given in the URL's place. */
const withoutSecrets = (text: string): string =>
  text
    .replace(/\/\/.*@/s, '//…@')
    .replace(/[?#].*/s, '…')
    .replace(/glrct-.*/s, 'glrct-…');

const invalid = (value: string, problem: string): RelayError =>
  new RelayError('config_invalid', `router URL "${value}" ${problem}`);
