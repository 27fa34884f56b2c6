import { VERSION } from '../version.ts';

/** Stands in for the Function URL's host; nothing listens there and nothing is sent. */
const DOMAIN = 'admit.invoke';

interface FunctionUrlEvent {
  readonly version: '2.0';
  readonly routeKey: '$default';
  readonly rawPath: string;
  readonly rawQueryString: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly requestContext: {
    readonly accountId: 'anonymous';
    readonly apiId: string;
    readonly domainName: string;
    readonly domainPrefix: string;
    readonly http: {
      readonly method: string;
      readonly path: string;
      readonly protocol: 'HTTP/1.1';
      readonly sourceIp: string;
      readonly userAgent: string;
    };
    readonly requestId: string;
    readonly routeKey: '$default';
    readonly stage: '$default';
    readonly time: string;
    readonly timeEpoch: number;
  };
  readonly body: string;
  readonly isBase64Encoded: false;
}

/**
 * What a function behind a Function URL is given for this request, so that one handler serves both routes.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html#urls-payloads
 */
export function functionUrlEvent(request: {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly requestId: string;
  readonly nowMs: number;
}): FunctionUrlEvent {
  const { method, path, body, requestId, nowMs } = request;
  const userAgent = `tollgate/${VERSION}`;
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: '',
    headers: {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      host: DOMAIN,
      'user-agent': userAgent,
    },
    requestContext: {
      accountId: 'anonymous',
      apiId: 'invoke',
      domainName: DOMAIN,
      domainPrefix: 'admit',
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent },
      requestId,
      routeKey: '$default',
      stage: '$default',
      time: new Date(nowMs).toISOString(),
      timeEpoch: nowMs,
    },
    body,
    isBase64Encoded: false,
  };
}
