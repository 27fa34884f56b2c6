/** By the code or the text that Node, ws and grpc-js give; the first match counts. Then cause and remedy. */
const KINDS = {
  expired: [
    /CERT_HAS_EXPIRED|certificate has expired/,
    'its certificate has expired',
    'Renew the certificate of the server, or of the proxy in front of it.',
  ],
  notYetValid: [
    /CERT_NOT_YET_VALID|certificate is not yet valid/,
    'its certificate is not valid yet',
    "Check this machine's clock and the dates of the server's certificate.",
  ],
  otherHost: [
    /ERR_TLS_CERT_ALTNAME_INVALID|altnames/,
    'its certificate names another host',
    'Use a host that the certificate names, or have the certificate issued for this one.',
  ],
  unknownAuthority: [
    /SELF_SIGNED|self-signed|UNABLE_TO_|unable to (?:verify|get)/,
    'its certificate is signed by an unknown authority',
    "Set TOLLGATE_CA_FILE to a file with your authority's certificate (deployed: gitlab.caParameter in cdk/tollgate.config.ts).",
  ],
  notTls: [
    /ERR_SSL_|EPROTO|wrong version number/,
    'this port does not speak TLS',
    'Use the TLS port, or the address of the service without TLS.',
  ],
  proxyStatus: [
    /ERR_PROXY_TUNNEL/,
    'the proxy refused the connection',
    "Have the proxy's operator allow this host and port.",
  ],
  unknownName: [
    /ENOTFOUND|Name resolution failed/,
    'its name is unknown here',
    'Check the host in the address, and the resolver.',
  ],
  noResolver: [/EAI_AGAIN/, 'the resolver does not answer', 'Try again, then check the resolver.'],
  refused: [/ECONNREFUSED/, 'nothing listens there', 'Check host and port, and that the service runs.'],
  timeout: [
    /ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|timed out|TimeoutError|AbortError/,
    'it did not answer in time',
    'Check firewalls, security groups and routes between here and there.',
  ],
  cut: [
    /ECONNRESET|EPIPE|UND_ERR_SOCKET|socket hang up|Socket closed|before secure TLS|Failed to connect|Connection closed/,
    'the connection was cut',
    'Check that this port speaks the scheme of the address, then try again.',
  ],
} as const;

export const PROXY_CREDENTIALS =
  'Put them into HTTPS_PROXY, as http://user:password@host:port (deployed: parameters.proxyCredentials in cdk/tollgate.config.ts).';

/** @param error - of fetch, a socket or TLS. Its own text is not quoted, because it can hold the password of a proxy. */
export function networkFailure(error: unknown) {
  const { code, text, address, statusCode } = innermost(error);
  const detail = [statusCode ?? code, address].filter((each) => each !== undefined && each !== '').join(' ');
  const failure = (kind: keyof typeof KINDS | 'unknown', cause: string, remedy?: string) =>
    ({ kind, cause, detail, remedy }) as const;
  if (statusCode === 407) return failure('proxyStatus', 'the proxy wants credentials', PROXY_CREDENTIALS);
  const found = (Object.keys(KINDS) as (keyof typeof KINDS)[]).find((kind) => KINDS[kind][0].test(text));
  if (found === undefined) return failure('unknown', 'the call failed');
  const [, cause, remedy] = KINDS[found];
  return failure(found, cause, remedy);
}

/** One line: what was tried, where, why it failed, and what to do. @param what - `GET /user: GitLab` */
export function notReached(what: string, url: string, error: unknown): string {
  const { cause, detail, remedy = '' } = networkFailure(error);
  return `${what} at ${new URL(url).origin} was not reached: ${cause}${detail && ` (${detail})`}. ${remedy}`.trim();
}

const CAUSES_MAX = 5;

function innermost(error: unknown) {
  let reason = error;
  for (let depth = 0; depth < CAUSES_MAX; depth += 1) {
    const inner = fieldsOf(reason);
    const next = Array.isArray(inner.errors) ? inner.errors[0] : inner.cause;
    if (!(next instanceof Error)) break;
    reason = next;
  }
  const { code, name, message, address, hostname, port, statusCode } = fieldsOf(reason);
  const host = typeof address === 'string' ? address : typeof hostname === 'string' ? hostname : '';
  return {
    code: typeof code === 'string' ? code : typeof name === 'string' ? name : undefined,
    text: [code, name, message].map((part) => String(part ?? '')).join(' '),
    address: typeof port === 'number' && host !== '' ? `${host}:${port}` : host,
    statusCode: typeof statusCode === 'number' ? statusCode : undefined,
  };
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)
    : { message: value };

type Variables = Readonly<Record<string, string | undefined>>;

/** @param credentials - `user:password`, as they are: nothing is to be escaped in them. */
export function withProxyCredentials(env: Variables, credentials: string | undefined): Variables {
  const proxy = env.https_proxy === undefined ? null : URL.parse(env.https_proxy);
  const [, user, password] = /^([^:]*):(.*)$/s.exec(credentials?.trim() ?? '') ?? [];
  if (proxy === null || user === undefined || password === undefined) return env;
  proxy.username = encodeURIComponent(user);
  proxy.password = encodeURIComponent(password);
  return { ...env, https_proxy: proxy.href };
}
