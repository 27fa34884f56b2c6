import { defaultProvider } from '@aws-sdk/credential-provider-node';
import { SignatureV4 } from '@smithy/signature-v4';
import { NodeSha256 } from '../../functions/core/contract/network.ts';
import { RelayError } from '../relay-error.ts';

export type CredentialsProvider = () => Promise<{
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}>;

/**
 * Returns the SDK's provider chain: environment, web identity, profiles, the container's role, the machine's. It caches
 * credentials and renews them 5 min before they expire, while the old ones are still in use.
 */
export const awsCredentials = (): CredentialsProvider => defaultProvider();

/**
 * Returns a `fetch` that signs every call (AWS signature version 4): method, path, all given headers and the body.
 *
 * Rejects with {@link RelayError} `admit_unreachable` if it cannot sign, e.g. without credentials. Nothing was sent then.
 *
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
export function signedFetch<Answer>(options: {
  readonly fetch: (url: string, init: RequestInit) => Promise<Answer>;
  readonly credentials: CredentialsProvider;
  readonly region: string;
  readonly service: string;
  readonly nowMs: () => number;
}): (url: string, init: RequestInit) => Promise<Answer> {
  const { fetch, credentials, region, service, nowMs } = options;
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
      throw signingError(cause);
    });
    // The signature covers `host`, which fetch itself writes from the URL.
    const { host: _host, ...headers } = signed.headers;
    return fetch(url, { ...init, headers });
  };
}

/** Quotes only the name of the cause: its message may hold files and addresses. */
const signingError = (cause: unknown): RelayError =>
  new RelayError(
    'admit_unreachable',
    `a call could not be signed (${cause instanceof Error ? cause.name : 'unknown failure'}); has the task a role, or the environment credentials?`,
    { cause },
  );
