import { readFileSync } from 'node:fs';
import { getCACertificates } from 'node:tls';
import { RelayError } from '../relay-error.ts';

export interface TlsFiles {
  /** PEM of authorities that may have signed the router's certificate, besides those the system trusts. */
  readonly caFile?: string;
  /** The same as text, where no file can be mounted. */
  readonly caPem?: string;
  /** PEM of our own certificate and key, where the router asks for one; both or neither. */
  readonly certFile?: string;
  readonly keyFile?: string;
}

export interface TlsMaterial {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/** @throws {RelayError} `config_invalid`: a file cannot be read, or of certificate and key one is missing. */
export function readTls(files: TlsFiles = {}): TlsMaterial {
  if ((files.certFile === undefined) !== (files.keyFile === undefined)) {
    throw new RelayError('config_invalid', 'a client certificate needs its key, and a key its certificate');
  }
  const ca = files.caPem === undefined ? undefined : checkedPem(files.caPem, 'the authority given by value');
  return {
    ...(ca === undefined ? {} : { ca: withSystemAuthorities(Buffer.from(ca)) }),
    ...(files.caFile === undefined ? {} : { ca: withSystemAuthorities(readPem(files.caFile)) }),
    ...(files.certFile === undefined ? {} : { cert: readPem(files.certFile) }),
    ...(files.keyFile === undefined ? {} : { key: readPem(files.keyFile) }),
  };
}

/** As GitLab Runner does with its CA file: a private authority beside the public ones. */
const withSystemAuthorities = (pem: Buffer): Buffer =>
  Buffer.from([...getCACertificates('default'), pem.toString()].join('\n'));

function readPem(file: string): Buffer {
  let pem: Buffer;
  try {
    pem = readFileSync(file);
  } catch (cause) {
    throw new RelayError('config_invalid', `${file} cannot be read; check the path and its rights`, {
      cause,
    });
  }
  return checkedPem(pem, file);
}

function checkedPem<Pem extends string | Buffer>(pem: Pem, where: string): Pem {
  if (pem.includes('-----BEGIN ')) return pem;
  throw new RelayError('config_invalid', `${where} is not PEM; convert it with openssl x509 -inform der`);
}
