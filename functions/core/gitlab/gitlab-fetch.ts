import { type IncomingMessage, Agent as PlainAgent, request as sendPlain } from 'node:http';
import { Agent as SecureAgent, request as sendSecure } from 'node:https';
import tls from 'node:tls';
import { ENV_CA_PARAMETER, ENV_PROXY_PARAMETER } from '../../names.ts';
import { withProxyCredentials } from '../contract/network.ts';
import type { LedgerClock, Log } from '../environment/environment.ts';
import { secretLines, ssmText } from '../environment/secrets.ts';
import type { Environment } from '../environment/settings.ts';
import type { RestCallDeps } from './rest-call.ts';

const IDLE_MS = 4_000;
/** A page of GitLab has some hundred KB. More than this is no answer of GitLab's. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
const WITHOUT_BODY: readonly number[] = [204, 205, 304];

/** Never follows a redirect, which would take the token along. @throws {Error} for a `ca` that is no certificate */
export function gitlabFetch({
  ca,
  env,
}: {
  readonly ca?: string | undefined;
  /** HTTPS_PROXY, HTTP_PROXY and NO_PROXY count, in upper or lower case. */
  readonly env: Environment;
}): typeof fetch {
  const shared = { keepAlive: true, timeout: IDLE_MS, proxyEnv: env };
  // The command line also runs on Node 20, which has the list of authorities only.
  const authorities = tls.getCACertificates?.('default') ?? tls.rootCertificates;
  const secureContext = ca === undefined ? undefined : tls.createSecureContext({ ca: [...authorities, ca] });
  const plain = new PlainAgent(shared);
  const secure = new SecureAgent({ ...shared, ...(secureContext !== undefined && { secureContext }) });
  return async (input, init) => {
    const request = new Request(input, init);
    const { method, redirect, signal } = request;
    const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer());
    const isSecure = request.url.startsWith('https:');
    const options = { method, headers: Object.fromEntries(request.headers), signal };
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    // The reason says whether it was the time.
    const failed = (error: Error): void => reject(signal.aborted ? signal.reason : error);
    const sent = isSecure
      ? sendSecure(request.url, { ...options, agent: secure })
      : sendPlain(request.url, { ...options, agent: plain });
    sent.on('error', failed).on('response', (answer) => {
      if (redirect === 'error' && isRedirect(answer)) sent.destroy(new TypeError('unexpected redirect'));
      else whole(answer).then(resolve, failed);
    });
    sent.end(body);
    return promise;
  };
}

const isRedirect = ({ statusCode = 0 }: IncomingMessage): boolean => statusCode >= 300 && statusCode < 400;

async function whole(answer: IncomingMessage): Promise<Response> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of answer as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > ANSWER_BYTES_MAX) throw new Error('the answer is too long');
    pieces.push(piece);
  }
  const { statusCode: status = 0, rawHeaders } = answer;
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  return new Response(WITHOUT_BODY.includes(status) ? null : Buffer.concat(pieces), { status, headers });
}

/** The same for a deployed program: authority and the proxy's password are in SSM, and read again every five minutes. */
export function deployedFetch(
  env: Environment,
  deps: { readonly clock: LedgerClock; readonly log: Log },
): typeof fetch {
  const textIn = (name: string | undefined): (() => Promise<string | undefined>) => {
    if (!name) return async () => undefined;
    const lines = secretLines({ load: () => ssmText(name), ...deps });
    return async () => (await lines()).join('\n');
  };
  const readAuthority = textIn(env[ENV_CA_PARAMETER]);
  const readCredentials = textIn(env[ENV_PROXY_PARAMETER]);
  let known: { readonly made: string; readonly send: typeof fetch } | undefined;
  return async (input, init) => {
    const [ca, credentials] = await Promise.all([readAuthority(), readCredentials()]);
    const made = JSON.stringify([ca, credentials]);
    if (known?.made !== made)
      known = { made, send: gitlabFetch({ ca, env: withProxyCredentials(env, credentials) }) };
    return known.send(input, init);
  };
}

/** Calls of a deployed program, with the first line of an SSM parameter as its token. */
export function deployedCalls(
  { gitlabUrl, tokenParameter }: { readonly gitlabUrl: string; readonly tokenParameter: string },
  env: Environment,
  deps: { readonly clock: LedgerClock; readonly log: Log },
): RestCallDeps {
  const lines = secretLines({ load: () => ssmText(tokenParameter), ...deps });
  const token = async (): Promise<string> => (await lines())[0] ?? '';
  return { baseUrl: gitlabUrl, token, fetch: deployedFetch(env, deps), clock: deps.clock };
}
