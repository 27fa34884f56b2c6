import type { Hono } from 'hono';
import { expect, test } from 'vitest';
import { createPages } from '../../../functions/console/pages/create-pages.ts';
import { silentLog } from '../../../functions/core/environment/environment.ts';
import { consoleHouse, LIMITS, servedTo, USERS } from './house.ts';

const JSON_TYPE = 'application/json';
const MULTIPART = 'multipart/form-data; boundary=x';

/** Bodies that are not what their type says, or of another type. */
const BODIES: Readonly<
  Record<string, { readonly body?: string | Uint8Array<ArrayBuffer>; readonly type?: string }>
> = {
  none: { type: JSON_TYPE },
  'half a JSON': { body: '{', type: JSON_TYPE },
  empty: { body: '', type: JSON_TYPE },
  null: { body: 'null', type: JSON_TYPE },
  'no UTF-8': { body: new Uint8Array([0x7b, 0xff, 0xfe]), type: JSON_TYPE },
  'a form': { body: 'a=%ff&b', type: 'application/x-www-form-urlencoded' },
  'without a type': { body: new Uint8Array([0x7b, 0x7d]) },
  'half a multipart': { body: '--x\r\ncontent-disposition: form-data; name="a', type: MULTIPART },
  'a multipart without a boundary': { body: 'x', type: 'multipart/form-data' },
  'a broken type': { body: '{}', type: 'application/json; charset="' },
  'deep inside': { body: `{"edits":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, type: JSON_TYPE },
  'larger than taken': { body: `"${'a'.repeat(4 * 1024 * 1024)}"`, type: JSON_TYPE },
};
const IDS = ['101', 'x', '%', '%ff', '%00', '%2e%2e', '9'.repeat(400), '-1', '1e9'];
const QUERIES = [
  ...['', '?before=x', '?before=1e99', '?before=-5', '?max=NaN', '?max=-1', '?subject=%', '?subject=%ff'],
  ...['?cursor=%%%', '?cursor=e30', '?subject=a&subject=b', '?period=%ff', '?days=1e999', '?from=x&until=y'],
];
const MATCHES = ['%%%', '"'.repeat(50), '"other"', undefined, ''];

async function open() {
  const house = consoleHouse();
  await house.apply(LIMITS);
  const failed: string[] = [];
  const failures = { ...silentLog, error: (message: string) => failed.push(message) };
  const { limitEdits, read, policy, directory, clock } = house;
  const pages = createPages({
    ...{ limitEdits, read, policy, directory: async () => directory, clock, zone: 'UTC', origin: '' },
    uploads: { keep: async () => 'u1', read: async () => undefined },
    log: failures,
  });
  const app = house.appFor(USERS.finance);
  return { app, pages: servedTo(USERS.finance, '/', pages), failed };
}

/** Every request that a 500 answers, which is an alarm for those on call. */
async function failing(
  app: Pick<Hono, 'request'>,
  requests: Iterable<readonly [string, RequestInit]>,
): Promise<{ readonly sent: number; readonly broken: readonly string[] }> {
  const broken: string[] = [];
  let sent = 0;
  for (const [path, init] of requests) {
    const { status } = await app.request(path, init);
    sent += 1;
    if (status >= 500) broken.push(`${init.method ?? 'GET'} ${path}`);
  }
  return { sent, broken: [...new Set(broken)] };
}

function* sends(paths: Iterable<string>, method: string): Generator<readonly [string, RequestInit]> {
  let sent = 0;
  for (const path of paths) {
    for (const { body, type } of Object.values(BODIES)) {
      const match = path.includes('/limits') ? MATCHES[sent % MATCHES.length] : undefined;
      const headers = {
        ...(type !== undefined && { 'content-type': type }),
        ...(match !== undefined && { 'if-match': match }),
      };
      sent += 1;
      yield [path, { method, headers, ...(body !== undefined && { body }) }];
    }
  }
}

test('no request to the API is so malformed that it is our failure', async () => {
  const { app } = await open();
  const document = (await (await app.request('/api/v1/openapi.json')).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  };
  function* requests(): Generator<readonly [string, RequestInit]> {
    for (const [path, methods] of Object.entries(document.paths)) {
      const ids = path.includes('{') ? IDS : [''];
      const paths = ids.map((id) => `/api/v1${path.replace(/\{[^}]+\}/g, id)}`);
      for (const method of Object.keys(methods)) {
        if (method !== 'get') yield* sends(paths.slice(0, 4), method.toUpperCase());
        else for (const each of paths) for (const query of QUERIES) yield [`${each}${query}`, {}];
      }
    }
  }
  const { sent, broken } = await failing(app, requests());
  expect(sent).toBeGreaterThan(500);
  expect(broken).toEqual([]);
});

test('no form and no address of a page is so malformed that it is our failure', async () => {
  const { pages, failed } = await open();
  const folders = ['/groups/', '/projects/', '/runner-classes/', '/jobs/', '/nowhere/'];
  const reads = [
    ...'/ /instance /jobs /shadow /coverage /reports /reports/groups.csv /history /requests /ask /edit /import /me'.split(
      ' ',
    ),
    ...folders.flatMap((folder) => IDS.map((id) => `${folder}${id}`)),
  ];
  const posts = ['/edit', '/ask', '/import', '/rollout/report', '/requests/%ff', '/requests/x', '/nowhere'];
  const gets = reads.flatMap((path) => QUERIES.map((query) => [`${path}${query}`, {}] as const));
  const asked = await failing(pages, gets);
  const sent = await failing(pages, sends(posts, 'POST'));
  expect([...asked.broken, ...sent.broken]).toEqual([]);
  expect(failed).toEqual([]);
});

test('who sends half a JSON is told so, in the words of the API', async () => {
  const { app } = await open();
  const answer = await app.request('/api/v1/limits/edits', {
    method: 'POST',
    headers: { 'content-type': JSON_TYPE },
    body: '{',
  });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { code: 'malformed' } });
});
