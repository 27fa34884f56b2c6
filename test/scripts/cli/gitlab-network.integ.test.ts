/** `--gitlab` commands before each GitLab that cannot be reached or answers as none does. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { gitlabFetch } from '../../../functions/core/gitlab/gitlab-fetch.ts';
import { createGitLab } from '../../../functions/core/gitlab/rest-gitlab.ts';
import { cert, key } from '../../../scripts/proof/bench/self-signed.ts';
import { startPrivateNetwork } from '../../support/private-network.ts';
import { runDesk } from './desk-run.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const TOKEN = 'glpat-of-these-tests-only';
const dir = mkdtempSync(join(tmpdir(), 'gitlab-network-'));
afterAll(() => rmSync(dir, { recursive: true }));
const fileOf = (name: string, text: string): string => {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
};
const token = fileOf('token', TOKEN);

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}
const plain = async (answer: RequestListener) => `http://127.0.0.1:${await listening(createServer(answer))}`;
const secure = async (pair: { readonly key: string; readonly cert: string }) =>
  `https://127.0.0.1:${await listening(createSecureServer(pair, (_, response) => response.end('[]')))}`;
const answering =
  (status: number, headers: Readonly<Record<string, string>> = {}, body = ''): RequestListener =>
  (_, response) => {
    response.writeHead(status, headers).end(body);
  };

const fleetOf = (gitlab: string, env: Readonly<Record<string, string>> = {}) =>
  tollgate(['fleet', 'ls'], gitlab, env);

async function tollgate(
  words: readonly string[],
  gitlab: string,
  env: Readonly<Record<string, string>> = {},
) {
  const args = [...words, '--gitlab', gitlab, '--token-file', token];
  const { code, out, err } = await runDesk(args, ROOT, { env, nowMs: Date.now });
  return { code, stdout: out, stderr: err };
}

test('by a proxy with a password, to a certificate of a private authority', async () => {
  const gitlab = await plain(answering(200, { 'content-type': 'application/json' }, '[]'));
  const network = await startPrivateNetwork(Number(new URL(gitlab).port));
  onTestFinished(() => network.close());
  const url = `https://${network.host}`;
  const own = {
    TOLLGATE_CA_FILE: fileOf('ca.pem', network.ca),
    HTTPS_PROXY: network.proxyUrlWithCredentials,
  };
  expect(await fleetOf(url, own)).toMatchObject({ code: 0, stderr: '' });
  expect(network.targets).toContain(network.host);
  const unsaid = await fleetOf(url, { ...own, HTTPS_PROXY: network.proxyUrl });
  expect(unsaid.stderr).toMatch(
    /at https:\/\/localhost:1 was not reached: the proxy wants credentials \(407\)\. Put /,
  );
  const untrusted = await fleetOf(url, { HTTPS_PROXY: network.proxyUrlWithCredentials });
  expect(untrusted.stderr).toMatch(
    /unknown authority \(DEPTH_ZERO_SELF_SIGNED_CERT\)\. Set TOLLGATE_CA_FILE /,
  );
  for (const { code, stderr } of [unsaid, untrusted]) {
    expect(code).toBe(1);
    expect(stderr).toMatch(/^.+\n$/);
    expect(stderr).not.toMatch(/p@ss|p%40ss/);
  }
});

const closed = async (): Promise<string> => {
  const server = createTcpServer();
  const port = await listening(server);
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
};
const PAGE = { 'content-type': 'text/html' };
type Case = [name: string, start: () => Promise<string>, cause: RegExp, remedy: RegExp, authority?: string];
const CASES: readonly Case[] = [
  ['closed port', closed, /nothing listens there \(ECONNREFUSED 127\.0\.0\.1:\d+\)/, /Check host and port/],
  ['unknown authority', () => secure({ key, cert }), /unknown authority/, /Set TOLLGATE_CA_FILE/],
  ['401', () => plain(answering(401)), /answered 401/, /token is wrong, revoked or has expired/],
  [
    'web page',
    () => plain(answering(200, PAGE, '<html>s3cret')),
    /body is not JSON/,
    /Check that this is GitLab's/,
  ],
];
test.each(CASES)(
  '%s: one line with the address, the cause and the remedy',
  async (_, start, cause, remedy, ca) => {
    const url = await start();
    const env = ca === undefined ? {} : { TOLLGATE_CA_FILE: fileOf('own.pem', ca) };
    const { code, stdout, stderr } = await fleetOf(url, env);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^.+\n$/);
    expect(stderr).toContain(`${url} `);
    expect(stderr).toMatch(cause);
    expect(stderr).toMatch(remedy);
    expect(stderr).not.toMatch(/s3cret|fetch failed|use-system-ca/);
    expect(stderr).not.toContain(TOKEN);
  },
);

const NOTHING = join(dir, 'no-secrets');
const ADMINISTRATION: readonly (readonly string[])[] = [
  ['gitlab', 'setup', '--dry-run', '--secrets', NOTHING],
  ['gitlab', 'rotate-webhook-key', '--webhook-url', 'https://hooks.example.com', '--secrets', NOTHING],
  ['gitlab', 'canary', '--project', 'platform/canary'],
  ['controller', 'status', '--controller', '1'],
];
test.each(ADMINISTRATION)('tollgate %s %s refused: address, cause and remedy', async (...words) => {
  const url = await plain(answering(401));
  const { code, stdout, stderr } = await tollgate(words, url);
  const said = stdout + stderr;
  expect(code).toBeGreaterThan(0);
  expect(said).toMatch(new RegExp(`at ${url}.*: 401\\)`));
  expect(said).toMatch(/GitLab does not take the token/);
  expect(said).toMatch(/wrong, revoked or expired/);
  expect(said).not.toMatch(/^\s+at /m);
  expect(said).not.toContain(TOKEN);
});

test('a GitLab that is silent is named with what to look at', async () => {
  const baseUrl = await plain(() => {});
  const clock = { nowMs: Date.now, monotonicMs: () => performance.now(), sleep: async () => {} };
  const times = { timeoutMs: 100, deadlineMs: 150 };
  const gitlab = createGitLab({
    ...{ baseUrl, clock, token: async () => TOKEN, ...times },
    fetch: gitlabFetch({ env: {} }),
  });
  await expect(gitlab.runners({})).rejects.toThrow(
    `GitLab at ${baseUrl} was not reached: it did not answer in time (TimeoutError). Check firewalls`,
  );
});
