import { SignatureV4 } from '@smithy/signature-v4';
import { NodeSha256 } from '../../functions/core/contract/index.ts';
import { RelayError } from '../relay-error.ts';
import type { CredentialsProvider } from './credentials.ts';

interface SignedFetchDeps<Answer> {
  /** Sends; connections are kept and the environment's proxy is honoured as it does. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Answer>;
  readonly credentials: CredentialsProvider;
  /** `eu-central-1` */
  readonly region: string;
  /** As signatures call it: `lambda`, `ssm`, `dynamodb`. */
  readonly service: string;
  readonly nowMs: () => number;
}

/**
 * A `fetch` whose every call carries an AWS signature, version 4, over method, path, all headers given and the body.
 *
 * Rejects with {@link RelayError} `admit_unreachable` if it cannot be signed, e.g. for want of credentials; nothing was
 * sent then.
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
export function signedFetch<Answer>({
  fetch,
  credentials,
  region,
  service,
  nowMs,
}: SignedFetchDeps<Answer>): (url: string, init: RequestInit) => Promise<Answer> {
  const signer = new SignatureV4({ credentials, region, service, sha256: NodeSha256 });
  return async (url, init) => {
    const { protocol, host, hostname, port, pathname, searchParams } = new URL(url);
    const { body = '', method = 'GET' } = init;
    if (typeof body !== 'string') throw new TypeError('only text can be signed');
    const request = {
      method,
      protocol,
      hostname,
      ...(port !== '' && { port: Number(port) }),
      path: pathname,
      query: Object.fromEntries(searchParams),
      headers: { ...Object.fromEntries(new Headers(init.headers)), host },
      body,
    };
    const signed = await signer.sign(request, { signingDate: new Date(nowMs()) }).catch((cause: unknown) => {
      throw unsigned(cause);
    });
    // Signed, but not ours to send: fetch writes it, from the URL.
    const { host: _host, ...headers } = signed.headers;
    return fetch(url, { ...init, headers });
  };
}

/** The provider's message may name files and addresses; its name is enough to know where to look. */
const unsigned = (cause: unknown): RelayError =>
  new RelayError(
    'admit_unreachable',
    `a call could not be signed (${cause instanceof Error ? cause.name : 'unknown failure'}); has the task a role, or the environment credentials?`,
    { cause },
  );
