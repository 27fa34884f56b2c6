import { type IncomingMessage, request as sendPlain } from 'node:http';
import { request as sendSecure } from 'node:https';
import type { RelayClock } from '../exchange.ts';
import { RelayError } from '../relay-error.ts';

export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>;

export interface FetchInit extends Omit<RequestInit, 'headers'> {
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface FetchResponse {
  readonly status: number;
  readonly headers: Pick<Headers, 'get'>;
  readonly body: (AsyncIterable<Uint8Array> & { cancel(): Promise<void> }) | null;
  text(): Promise<string>;
}

export interface AdmitService {
  readonly baseUrl: string;
  readonly fetch: Fetch;
  readonly clock: RelayClock;
}

export type AdmitResult =
  | { readonly kind: 'answered'; readonly body: unknown }
  /** Network error, no answer in time, 408, 5xx, or a response that breaks the contract. */
  | {
      readonly kind: 'unreachable';
      readonly cause: 'unreachable' | 'deadline' | 'malformed';
      readonly error: RelayError;
    }
  | { readonly kind: 'throttled'; readonly error: RelayError }
  /** 3xx or 4xx: a retry gets the same answer. */
  | { readonly kind: 'refused'; readonly status: number; readonly error: RelayError };

export type CallFailure = Exclude<AdmitResult, { kind: 'answered' }>;

/** 96 rejections with the longest possible text stay below. A longer response is from another service. */
export const RESPONSE_BYTES_MAX = 4 * 1024 * 1024;

/** POSTs JSON and reads JSON, within `timeoutMs` even if `fetch` ignores its signal. Never throws. */
export function callAdmit(
  service: AdmitService,
  path: string,
  body: string,
  timeoutMs: number,
): Promise<AdmitResult> {
  const abort = new AbortController();
  return new Promise((resolve) => {
    const cancelTimer = service.clock.after(timeoutMs, () => {
      const error = unreachable(`${path} gave no answer in ${Math.round(timeoutMs)} ms`);
      resolve({ kind: 'unreachable', cause: 'deadline', error });
      abort.abort();
    });
    void post(service, path, body, abort.signal).then(resolve).finally(cancelTimer);
  });
}

async function post(
  service: AdmitService,
  path: string,
  body: string,
  signal: AbortSignal,
): Promise<AdmitResult> {
  try {
    const headers = { 'content-type': 'application/json' };
    // A redirect would send the jobs to a host that the response names.
    const init: FetchInit = { method: 'POST', body, headers, signal, redirect: 'manual' };
    const response = await service.fetch(`${service.baseUrl}${path}`, init);
    if (response.status === 200) return await readJson(response, path);
    await response.body?.cancel();
    const said = `${path} answered with status ${response.status}`;
    if (response.status === 429) return { kind: 'throttled', error: new RelayError('admit_throttled', said) };
    if (response.status === 408 || response.status >= 500) {
      return { kind: 'unreachable', cause: 'unreachable', error: unreachable(said) };
    }
    return { kind: 'refused', status: response.status, error: new RelayError('admit_refused', said) };
  } catch (cause) {
    // A route may name the problem itself, e.g. that it could not sign the call.
    const error =
      cause instanceof RelayError
        ? cause
        : unreachable(`${path} could not be called: ${networkProblem(cause)}`, { cause });
    return { kind: 'unreachable', cause: 'unreachable', error };
  }
}

async function readJson(response: FetchResponse, path: string): Promise<AdmitResult> {
  const text = await readResponseText(response, RESPONSE_BYTES_MAX);
  if (text !== undefined) {
    try {
      return { kind: 'answered', body: JSON.parse(text) };
    } catch {
      // The parser's message would quote the response.
    }
  }
  const problem = text === undefined ? `more than ${RESPONSE_BYTES_MAX} bytes` : 'a body that is not JSON';
  return malformed(`${path} answered with ${problem}`);
}

export const malformed = (problem: string): CallFailure => ({
  kind: 'unreachable',
  cause: 'malformed',
  error: unreachable(problem),
});

const unreachable = (problem: string, options?: ErrorOptions): RelayError =>
  new RelayError('admit_unreachable', problem, options);

/** `fetch` hides the code in its cause, e.g. ECONNREFUSED. A message may hold addresses with secrets, so it is left out. */
function networkProblem(error: unknown): string {
  const { cause, code = cause?.code } = error as {
    readonly code?: unknown;
    readonly cause?: { readonly code?: unknown };
  };
  if (typeof code === 'string') return code;
  return error instanceof Error ? error.name : 'unknown failure';
}

export async function readResponseText(
  response: FetchResponse,
  bytesMax: number,
): Promise<string | undefined> {
  if (Number(response.headers.get('content-length') ?? Number.NaN) <= bytesMax) return response.text();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes).toString('utf8');
}

/**
 * A `fetch` at half its CPU, for AWS and the admit function. It keeps connections and uses the environment's proxy as Node
 * does. It follows no redirect, decompresses nothing and makes no web streams.
 */
export const nodeFetch: Fetch = (url, { method = 'GET', headers, body, signal }) =>
  new Promise((resolve, reject) => {
    if (body !== undefined && body !== null && typeof body !== 'string')
      throw new TypeError('only text can be sent');
    signal?.throwIfAborted();
    const send = url.startsWith('https:') ? sendSecure : sendPlain;
    const request = send(url, { method, ...(headers && { headers }) });
    // As an option of the request, a signal would cost several listeners.
    signal?.addEventListener('abort', () => request.destroy(signal.reason), { once: true });
    request.on('error', reject);
    request.on('response', (response) => {
      const header = (name: string): string | null => {
        const value = response.headers[name.toLowerCase()];
        return (Array.isArray(value) ? value.join(', ') : value) ?? null;
      };
      resolve({
        status: response.statusCode ?? 0,
        headers: { get: header },
        body: Object.assign(response, {
          cancel: async () => {
            response.destroy();
          },
        }),
        text: () => textOf(response),
      });
    });
    request.end(body ?? undefined);
  });

/** A fifth of the CPU of an asynchronous iterator. */
export const textOf = (message: IncomingMessage): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = '';
    message
      .setEncoding('utf8')
      .on('data', (chunk: string) => {
        text += chunk;
      })
      .on('end', () => resolve(text))
      .on('error', reject);
  });
