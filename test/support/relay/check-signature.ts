/** AWS's signature, version 4, computed from the published algorithm: what the relay's signer is held against. */
import { createHash, createHmac } from 'node:crypto';

export interface SignedCall {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/** What is wrong with a call's signature; empty if AWS would take it. */
export function signatureProblems(
  call: SignedCall,
  expected: {
    readonly region: string;
    readonly service: string;
    readonly accessKeyId: string;
    readonly secret: string;
  },
): readonly string[] {
  const url = new URL(call.url);
  const headers = new Map(Object.entries(call.headers).map(([name, value]) => [name.toLowerCase(), value]));
  // fetch writes it from the URL.
  headers.set('host', url.host);
  const parts =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.get('authorization') ?? '',
    );
  if (parts === null) return ['no authorization of AWS4-HMAC-SHA256'];
  const [, credential = '', signedHeaders = '', signature] = parts;
  const amzDate = headers.get('x-amz-date') ?? '';
  const day = amzDate.slice(0, 8);
  const scope = `${day}/${expected.region}/${expected.service}/aws4_request`;
  const names = signedHeaders.split(';');
  const canonical = [
    call.method,
    // Every service but S3 escapes the path of the request once more.
    url.pathname.split('/').map(escaped).join('/'),
    [...url.searchParams]
      .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
      .sort()
      .join('&'),
    ...names.map((name) => `${name}:${(headers.get(name) ?? '').trim().replace(/\s+/g, ' ')}`),
    '',
    signedHeaders,
    sha256(call.body),
  ].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', amzDate, scope, sha256(canonical)].join('\n');
  const key = [expected.region, expected.service, 'aws4_request'].reduce<Buffer>(
    (made, part) => hmac(made, part),
    hmac(`AWS4${expected.secret}`, day),
  );
  const mustBeSigned = [...headers.keys()].filter(
    (name) => name === 'host' || name === 'content-type' || name.startsWith('x-amz-'),
  );
  return [
    ...(credential === `${expected.accessKeyId}/${scope}` ? [] : [`credential ${credential}`]),
    ...mustBeSigned.filter((name) => !names.includes(name)).map((name) => `${name} is not signed`),
    ...(hmac(key, toSign).toString('hex') === signature ? [] : ['the signature is another']),
  ];
}
