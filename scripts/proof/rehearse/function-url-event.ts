export interface UrlEventOptions {
  readonly path: string;
  /** @default 'POST' */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Lambda encodes bodies whose content type it takes for binary. @default false */
  readonly base64?: boolean;
}

/** An event as a Function URL makes it, with all the fields that AWS documents; an answer has `statusCode` and `body`. */
export function documentedUrlEvent(options: UrlEventOptions): Record<string, unknown> {
  const { path, method = 'POST', headers = {}, body, base64 = false } = options;
  const host = 'abcdefghijklmnopqrstuvwxyz012345.lambda-url.eu-central-1.on.aws';
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: '',
    headers: { host, 'content-type': 'application/json', 'x-forwarded-proto': 'https', ...headers },
    requestContext: {
      accountId: 'anonymous',
      apiId: host.split('.')[0],
      domainName: host,
      domainPrefix: host.split('.')[0],
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '203.0.113.7', userAgent: 'GitLab/19.4.0' },
      requestId: '9a4a9c5e-1b1b-4a55-9f0d-0f4a43b6b7c1',
      routeKey: '$default',
      stage: '$default',
      time: '21/Nov/2026:10:00:00 +0000',
      timeEpoch: 1_795_255_200_000,
    },
    ...(body !== undefined && { body: base64 ? Buffer.from(body).toString('base64') : body }),
    isBase64Encoded: base64,
  };
}
