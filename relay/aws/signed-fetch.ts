import { defaultProvider } from '@aws-sdk/credential-provider-node';
import { type Credentials, callSigner } from '../../functions/core/contract/signature.ts';
import type { FetchInit } from '../admit/admit-call.ts';
import { nameOf } from '../events.ts';
import { RelayError } from '../relay-error.ts';

export type CredentialsProvider = () => Promise<Credentials>;

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
  readonly fetch: (url: string, init: FetchInit) => Promise<Answer>;
  readonly credentials: CredentialsProvider;
  readonly region: string;
  readonly service: string;
  readonly nowMs: () => number;
}): (url: string, init: FetchInit) => Promise<Answer> {
  const { fetch, credentials, region, service, nowMs } = options;
  const sign = callSigner(region, service);
  return async (url, init) => {
    const { host, pathname: path, searchParams: query } = new URL(url);
    const { body = '', method = 'GET', headers = {} } = init;
    if (typeof body !== 'string') throw new TypeError('only text can be signed');
    const own = await credentials().catch((cause: unknown) => {
      // Its message may hold files and addresses.
      const problem = `a call could not be signed (${nameOf(cause)}); has the task a role, or the environment credentials?`;
      throw new RelayError('admit_unreachable', problem, { cause });
    });
    const call = { method, host, path, query, headers, body };
    // The signature covers `host`, which fetch itself writes from the URL.
    const { host: _host, ...signed } = sign(call, own, nowMs());
    return fetch(url, { ...init, headers: signed });
  };
}
