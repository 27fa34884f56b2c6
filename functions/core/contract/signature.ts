import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

interface Call {
  readonly method: string;
  readonly host: string;
  /** As it is sent, escapes included. */
  readonly path: string;
  readonly query?: URLSearchParams;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

export type SignCall = (call: Call, credentials: Credentials, nowMs: number) => Record<string, string>;

/**
 * Returns a function that adds AWS signature version 4 to the headers of a call, `host` included. The SDK's signer takes 130 µs
 * of CPU for a call and 30 KB of each bundle; this one takes 15 µs, most of it for two hashes.
 *
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
export function callSigner(region: string, service: string): SignCall {
  let known: { readonly day: string; readonly secret: string; readonly key: KeyObject } | undefined;

  function signingKey(day: string, secret: string): KeyObject {
    if (known?.day === day && known.secret === secret) return known.key;
    let key = createSecretKey(`AWS4${secret}`, 'utf8');
    for (const part of [day, region, service, 'aws4_request'])
      key = createSecretKey(createHmac('sha256', key).update(part).digest());
    known = { day, secret, key };
    return key;
  }

  return ({ method, host, path, query, headers: given, body }, credentials, nowMs) => {
    const { accessKeyId, secretAccessKey, sessionToken } = credentials;
    const at = new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, '');
    const day = at.slice(0, 8);
    const bodyHash = hash('sha256', body);
    const isS3 = service === 's3';
    const headers: Record<string, string> = { ...given, host, 'x-amz-date': at };
    if (sessionToken !== undefined) headers['x-amz-security-token'] = sessionToken;
    if (isS3) headers['x-amz-content-sha256'] = bodyHash;
    const names = Object.keys(headers).sort();
    const signed = names.join(';');
    const lines = names.map((name) => `${name}:${headers[name]}\n`).join('');
    // S3 signs the path as it is sent, all others escape it once more.
    const signedPath = isS3 ? path : path.split('/').map(escaped).join('/');
    const canonical = `${method}\n${signedPath}\n${canonicalQuery(query)}\n${lines}\n${signed}\n${bodyHash}`;
    const scope = `${day}/${region}/${service}/aws4_request`;
    const text = `AWS4-HMAC-SHA256\n${at}\n${scope}\n${hash('sha256', canonical)}`;
    const signature = createHmac('sha256', signingKey(day, secretAccessKey)).update(text).digest('hex');
    headers.authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${signed}, Signature=${signature}`;
    return headers;
  };
}

/** Escapes more than JavaScript does, as AWS wants it. */
const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

const canonicalQuery = (query: URLSearchParams | undefined): string =>
  query === undefined || query.size === 0
    ? ''
    : [...query]
        .map((pair) => pair.map(escaped).join('='))
        .sort()
        .join('&');
