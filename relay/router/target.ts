import { readFileSync } from 'node:fs';
import tls from 'node:tls';
import { RelayError } from '../relay-error.ts';

export type RouterTarget = ReturnType<typeof parseTarget>;

const SCHEME = /^(grpcs?|wss?):\/\//;
const DEFAULT_PORT = { grpc: 80, grpcs: 443, ws: 80, wss: 443 } as const;

/**
 * Reads a router URL as GitLab Runner does: `grpc://`, `grpcs://`, `ws://`, `wss://`, default ports 80 and 443.
 *
 * @throws {RelayError} `config_invalid`, which names value and remedy, and no credentials.
 */
export function parseTarget(text: string) {
  const scheme = SCHEME.exec(text)?.[1] as keyof typeof DEFAULT_PORT | undefined;
  if (scheme === undefined)
    throw invalid(withoutSecrets(text), 'must begin with grpc://, grpcs://, ws:// or wss://');
  const secure = scheme === 'grpcs' || scheme === 'wss';
  const rest = text.slice(scheme.length);
  // As http(s), so the host is checked as in a browser.
  const url = URL.parse(`${secure ? 'https' : 'http'}${rest}`);
  if (url === null)
    throw invalid(
      withoutSecrets(text),
      'is not a URL; write it as wss://kas.example.com or grpc://host:8150',
    );
  const shown = `${scheme}://${url.host}`;
  if (url.username !== '' || url.password !== '')
    throw invalid(shown, 'carries credentials; give the token in a file of its own');
  if (url.search !== '' || url.hash !== '')
    throw invalid(shown, 'carries a query or fragment; leave everything from ? or # away');
  if (url.port === '0') throw invalid(shown, 'has port 0; give the port the router listens on');
  const tunnel = scheme === 'ws' || scheme === 'wss';
  const path = url.pathname === '/' ? '' : url.pathname;
  if (!tunnel && path !== '')
    throw invalid(`${shown}${path}`, `has a path, which gRPC has no use for; write ${shown}`);
  return {
    ...{ secure, tunnel, port: url.port === '' ? DEFAULT_PORT[scheme] : Number(url.port) },
    /** Name or address, IPv6 without brackets. */
    host: url.hostname.replace(/^\[|\]$/g, ''),
    /** The `:authority` of HTTP/2: the host, with the port if it is not the scheme's default. */
    authority: url.host,
    url: `${shown}${path}`,
  };
}

/** A broken value may hold a secret, or be one, if the token was given as URL. */
const withoutSecrets = (text: string): string =>
  text
    .replace(/\/\/.*@/s, '//…@')
    .replace(/[?#].*/s, '…')
    .replace(/glrct-.*/s, 'glrct-…');

const invalid = (value: string, problem: string): RelayError =>
  new RelayError('config_invalid', `router URL "${value}" ${problem}`);

export interface TlsFiles {
  /** PEM of authorities that are trusted in addition to the system's. */
  readonly caFile?: string;
  readonly caPem?: string;
  /** PEM of the relay's own certificate and key, if the router asks for one. Both or neither. */
  readonly certFile?: string;
  readonly keyFile?: string;
}

export type TlsMaterial = ReturnType<typeof readTls>;

/** @throws {RelayError} `config_invalid` if a file cannot be read, or a certificate has no key or a key no certificate. */
export function readTls(files: TlsFiles = {}) {
  if ((files.certFile === undefined) !== (files.keyFile === undefined))
    throw new RelayError('config_invalid', 'a client certificate needs its key, and a key its certificate');
  const { caFile, caPem, certFile, keyFile } = files;
  const ca =
    caPem === undefined ? caFile && readPem(caFile) : checkedPem(caPem, 'the authority given by value');
  return {
    // Like GitLab Runner's CA file, a private authority is added to the public ones.
    ...(ca !== undefined && { ca: Buffer.from([...authorities(), ca].join('\n')) }),
    ...(certFile !== undefined && { cert: Buffer.from(readPem(certFile)) }),
    ...(keyFile !== undefined && { key: Buffer.from(readPem(keyFile)) }),
  };
}

/** The command line also runs on Node 20, which has the list of authorities only. */
const authorities = () => tls.getCACertificates?.('default') ?? tls.rootCertificates;

const readPem = (file: string): string => checkedPem(readSecretFile(file, 'config_invalid'), file);

function checkedPem(pem: string, where: string): string {
  if (pem.includes('-----BEGIN ')) return pem;
  throw new RelayError('config_invalid', `${where} is not PEM; convert it with openssl x509 -inform der`);
}

/** Reads a token or PEM file. @throws {RelayError} `code`, naming the file and never its content. */
export function readSecretFile(file: string, code: 'config_invalid' | 'token_unreadable'): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new RelayError(code, `${file} cannot be read; check the path and its rights`, { cause });
  }
}
