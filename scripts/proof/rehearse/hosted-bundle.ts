import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isRecord } from '../../../policies/document/reading.ts';
import { serveOnLoopback } from '../../local/loopback.ts';

export type HostedBundle = Awaited<ReturnType<typeof hostBundle>>;

interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

const HOST = fileURLToPath(new URL('bundle-host.mjs', import.meta.url));
const root = fileURLToPath(new URL('../../..', import.meta.url));
const LOAD_MS_MAX = 30_000;
const INVOKE_MS_MAX = 60_000;

/**
 * A deployed bundle in a process of its own, on this Node. It may read its folder and the packages, and write nothing, as on
 * Lambda.
 *
 * @throws {Error} with what it wrote, when the bundle cannot be loaded.
 * @param options.folder - contains `handler.mjs`; lies below the project's folder, where Lambda's own packages are found.
 * @param options.env - all of it: nothing is taken over from this process.
 */
export async function hostBundle({
  folder,
  env,
}: {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}) {
  const readable = [HOST, folder, join(root, 'node_modules'), join(root, 'package.json')];
  const child = fork(HOST, [pathToFileURL(join(folder, 'handler.mjs')).href], {
    cwd: folder,
    env,
    execArgv: ['--permission', ...readable.map((path) => `--allow-fs-read=${path}`)],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const written = textOf(child.stdout, child.stderr);
  const waiting = new Map<number, PromiseWithResolvers<Answer>>();
  child.on('message', (answer: Answer) => waiting.get(answer.id)?.resolve(answer));
  child.on('exit', (code, signal) => {
    const error = new Error(`the bundle's process ended with ${code ?? signal}:\n${written()}`);
    for (const { reject } of waiting.values()) reject(error);
  });
  const answerTo = (id: number, timeoutMs: number): Promise<Answer> => {
    const waiter = Promise.withResolvers<Answer>();
    waiting.set(id, waiter);
    const timer = setTimeout(
      () => waiter.reject(new Error(`no answer in ${timeoutMs} ms:\n${written()}`)),
      timeoutMs,
    );
    return waiter.promise.finally(() => {
      clearTimeout(timer);
      waiting.delete(id);
    });
  };
  const close = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  try {
    await answerTo(0, LOAD_MS_MAX);
  } catch (error) {
    await close();
    throw error;
  }
  let calls = 0;
  return {
    invoke: async (event: unknown): Promise<unknown> => {
      calls += 1;
      const answer = answerTo(calls, INVOKE_MS_MAX);
      child.send({ id: calls, event });
      const { error, result } = await answer;
      if (error !== undefined) throw new Error(error);
      return result;
    },
    signal: (name: 'SIGSTOP' | 'SIGCONT'): void => void child.kill(name),
    output: written,
    close,
  };
}

function textOf(...streams: readonly (Readable | null)[]): () => string {
  let written = '';
  for (const stream of streams)
    stream?.setEncoding('utf8').on('data', (text: string) => {
      written += text;
    });
  return () => written;
}

export interface UrlEventOptions {
  readonly path: string;
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

export async function serveFunctionUrl(bundle: Pick<HostedBundle, 'invoke'>) {
  const { url, stop } = await serveOnLoopback({
    async fetch(request) {
      const { pathname: path } = new URL(request.url);
      const event = documentedUrlEvent({ path, method: request.method, body: await request.text() });
      const answer = await bundle.invoke(event).catch(() => undefined);
      if (!isRecord(answer)) return new Response(null, { status: 502 });
      const headers = { 'content-type': 'application/json' };
      return new Response(String(answer.body ?? ''), { status: Number(answer.statusCode), headers });
    },
  });
  return { url, close: stop };
}
