import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A call of DynamoDB that fails, once. */
export interface Failure {
  readonly operation: 'BatchGetItem' | 'GetItem' | 'TransactWriteItems';
  /** What the call must have in its body. */
  readonly about: string;
  readonly type: string;
  readonly reasons?: readonly object[];
}

export interface FakeServices {
  readonly url: string;
  /** GitLabs that the table has books of; none of any as long as this is empty. */
  readonly known: string[];
  /** Items that reads by key find. */
  readonly stored: Readonly<Record<string, { readonly S?: string }>>[];
  /** The body of every write. */
  readonly written: string[];
  readonly close: () => void;
}

/** An empty table, one secret and a GitLab with one group in it: enough for a handler to run to its end. */
export function startFakeServices(secret: string, failOnce: Failure[]): Promise<FakeServices> {
  const known: string[] = [];
  const written: string[] = [];
  const stored: FakeServices['stored'] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const [service, operation = ''] = String(request.headers['x-amz-target'] ?? '').split('.');
    response.setHeader('content-type', 'application/json');
    if (service === '') {
      const isGroups = request.url?.startsWith('/api/v4/groups') ?? false;
      return response.end(
        JSON.stringify(isGroups ? [{ id: 100, full_path: 'acme', visibility: 'private' }] : []),
      );
    }
    if (service === 'AmazonSSM') return response.end(JSON.stringify({ Parameter: { Value: secret } }));
    const at = failOnce.findIndex((each) => each.operation === operation && body.includes(each.about));
    const [failure] = at === -1 ? [] : failOnce.splice(at, 1);
    if (/^(?:Put|Update|Delete|TransactWrite|BatchWrite)/.test(operation)) written.push(body);
    if (operation === 'Query' && body.includes('"@instances"')) {
      const Items = known.map((instance) => ({ pk: { S: '@instances' }, sk: { S: instance } }));
      return response.end(JSON.stringify({ Items }));
    }
    if (failure === undefined) return response.end(JSON.stringify(found(body, stored)));
    const { type, reasons } = failure;
    response.statusCode = 400;
    return response.end(
      JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, CancellationReasons: reasons }),
    );
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      const close = (): void => {
        server.closeAllConnections();
        server.close();
      };
      resolve({ url: `http://127.0.0.1:${port}`, known, stored, written, close });
    });
  });
}

/** What is stored under the keys, or nothing, in the shape of whatever was asked. */
function found(body: string, stored: FakeServices['stored']): object {
  const { RequestItems: asked, Key: key } = JSON.parse(body);
  const Item = stored.find(({ pk, sk }) => pk?.S === key?.pk.S && sk?.S === key?.sk.S);
  if (asked === undefined) return { Item, Items: [], Count: 0, ScannedCount: 0 };
  return {
    Responses: Object.fromEntries(
      Object.keys(asked).map((table) => [table, stored.filter(({ pk }) => body.includes(`"${pk?.S}"`))]),
    ),
    UnprocessedKeys: {},
  };
}
