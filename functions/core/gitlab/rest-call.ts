import type { z } from 'zod';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { notReached } from '../contract/network.ts';
import type { LedgerClock } from '../environment/environment.ts';
import { doubling, retried } from '../store/table-failure.ts';
import { GitLabError, type GitLabErrorCode, type Page } from './gitlab.ts';

export interface RestCallDeps {
  /** GitLab's address, e.g. `https://gitlab.example.com`; a path is kept. */
  readonly baseUrl: string;
  /** Read for every call, so that a rotated token needs no restart. */
  readonly token: () => Promise<string>;
  readonly fetch: typeof fetch;
  readonly clock: Pick<LedgerClock, 'nowMs' | 'monotonicMs' | 'sleep'>;
  readonly random?: () => number;
  readonly timeoutMs?: number;
  /** One call with all its tries and the waits between. @default 15_000 */
  readonly deadlineMs?: number;
}

export interface RestAnswer {
  readonly baseUrl: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** Takes queries for what REST does not return. */
export const GRAPHQL = '/graphql';

const TIMEOUT_MS = 5_000;
const DEADLINE_MS = 15_000;
/** A GitLab that fails four times in a row is down: the next sweep asks again. */
const TRIES_MAX = 4;
const BACKOFF_MS_MIN = 250;
const BACKOFF_MS_MAX = 4_000;
const TRY_MS_MIN = 100;

/**
 * One GET of GitLab's REST API. 5xx, 408 and silence are tried again with full jitter inside the deadline; 404 and 405 are
 * answers for the caller to judge.
 * @param path - below `/api/v4`, e.g. `/runners/all`.
 * @throws {GitLabError}
 */
export async function restCall(
  path: string,
  query: URLSearchParams,
  deps: RestCallDeps,
): Promise<RestAnswer> {
  const { clock, random = Math.random } = deps;
  const endMs = clock.monotonicMs() + (deps.deadlineMs ?? DEADLINE_MS);
  const ask = (): Promise<RestAnswer | GitLabError> => {
    const leftMs = endMs - clock.monotonicMs();
    const timeoutMs = Math.max(TRY_MS_MIN, Math.min(deps.timeoutMs ?? TIMEOUT_MS, Math.floor(leftMs)));
    return tryOnce('GET', path, { query, timeoutMs }, deps).catch((error: unknown) => {
      if (error instanceof GitLabError) return error;
      throw error;
    });
  };
  const isUnavailable = (answer: RestAnswer | GitLabError): boolean =>
    answer instanceof GitLabError && answer.code === 'gitlab_unavailable';
  const answer = await retried(ask, isUnavailable, {
    clock,
    random,
    triesMax: TRIES_MAX,
    pauseMsMax: doubling(BACKOFF_MS_MIN, BACKOFF_MS_MAX),
    isTimeFor: (pauseMs) => endMs - clock.monotonicMs() - pauseMs >= TRY_MS_MIN,
  });
  if (answer instanceof GitLabError) throw answer;
  return answer;
}

/**
 * Sends one change through GitLab's REST API, once: the caller checks the result before a repeat. 400, 404,
 * 409, 412 and 422 are returned.
 *
 * @param path - below `/api/v4`, e.g. `/runner_controllers/7`.
 * @throws {GitLabError} It may or may not have been made.
 */
export const restChange = (
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
  change: object | undefined,
  timeoutMs: number,
  deps: RestCallDeps,
): Promise<RestAnswer> => tryOnce(method, path, { change, timeoutMs }, deps);

async function tryOnce(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  asked: {
    readonly query?: URLSearchParams;
    readonly change?: object | undefined;
    readonly timeoutMs: number;
  },
  deps: RestCallDeps,
): Promise<RestAnswer> {
  const { baseUrl } = deps;
  const { query = new URLSearchParams(), change, timeoutMs } = asked;
  const call = `${method} ${path}`;
  const headers = {
    accept: 'application/json',
    'private-token': await readToken(deps.token),
    ...(change !== undefined && { 'content-type': 'application/json' }),
  };
  const root = path === GRAPHQL ? '/api' : '/api/v4';
  const url = `${baseUrl.replace(/\/+$/, '')}${root}${path}${query.size === 0 ? '' : `?${query}`}`;
  const init = { method, headers, ...(change !== undefined && { body: JSON.stringify(change) }) };
  const { response, text } = await sendOnce(call, url, init, timeoutMs, deps.fetch);
  const { status, headers: said } = response;
  const fail = (code: GitLabErrorCode, remedy: string, more: { retryAfterMs?: number } = {}): never => {
    const message = `${call}: GitLab at ${baseUrl} answered ${status}. ${remedy}`;
    throw new GitLabError(code, message, { status, ...more });
  };
  if (status === 401) return fail('gitlab_refused', 'The token is wrong, revoked or has expired.');
  if (status === 403) {
    const scope = method === 'GET' ? 'read_api' : 'api';
    return fail('gitlab_refused', `The token needs the scope ${scope} and an administrator.`);
  }
  if (status === 429) {
    const retryAfterMs = readRetryAfter(said.get('retry-after'), deps.clock.nowMs());
    return fail('gitlab_rate_limited', 'Wait, and try again.', withoutAbsent({ retryAfterMs }));
  }
  if (status >= 500 || status === 408)
    return fail('gitlab_unavailable', 'GitLab is overloaded or being updated: try again later.');
  if (method === 'GET' && status >= 300 && status < 400) {
    // Only the origin of an address: the rest can hold secrets.
    const to = URL.parse(said.get('location') ?? '', baseUrl)?.origin ?? 'elsewhere';
    return fail(
      'gitlab_unreadable',
      `It is a redirect to ${to}: a sign-in in front of GitLab must let the API pass.`,
    );
  }
  if (method === 'GET' && status !== 200 && status !== 404 && status !== 405)
    return fail('gitlab_unreadable', "Check GitLab's version.");
  const body = status === 200 || status === 201 ? parsedJson(text) : undefined;
  // The parser's own message would quote the body.
  if (method === 'GET' && status === 200 && body === undefined)
    return fail(
      'gitlab_unreadable',
      "The body is not JSON. Check that this is GitLab's address, and that no proxy or sign-in page answers in its place.",
    );
  return { baseUrl, status, headers: said, body };
}

/**
 * One request and the whole of its answer, within `timeoutMs`. A redirect is an answer: fetch would carry the token along to
 * wherever it leads.
 * @throws {GitLabError} `gitlab_unavailable`; what was to be changed may or may not be.
 */
function sendOnce(
  call: string,
  url: string,
  init: RequestInit,
  timeoutMs: number,
  send: typeof fetch,
): Promise<{ readonly response: Response; readonly text: string }> {
  const signal = AbortSignal.timeout(timeoutMs);
  return send(url, { ...init, redirect: 'manual', signal })
    .then(async (response) => ({ response, text: await response.text() }))
    .catch((cause: unknown) => {
      const why = signal.aborted ? new DOMException(`${timeoutMs} ms`, 'TimeoutError') : cause;
      throw new GitLabError('gitlab_unavailable', notReached(`${call}: GitLab`, url, why), { cause });
    });
}

/** Longer than any pause GitLab asks for: a typo in a proxy must not stop the sweep for days. */
const RETRY_AFTER_MS_MAX = 3_600_000;

function readRetryAfter(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined;
  const waitMs = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isNaN(waitMs) ? undefined : Math.min(RETRY_AFTER_MS_MAX, Math.max(0, waitMs));
}

async function readToken(token: () => Promise<string>): Promise<string> {
  const text = await token().catch((cause: unknown) => {
    throw new GitLabError('gitlab_unavailable', "GitLab's token could not be read from where it is kept", {
      cause,
    });
  });
  // Fetch's own complaint about such a header would quote it.
  if (!/^[\x21-\x7e]+$/.test(text)) {
    throw new GitLabError(
      'gitlab_refused',
      'the token is empty or has characters no header can carry; store it again',
    );
  }
  return text;
}

const PER_PAGE = 100;

/**
 * Returns the query of the next page, or undefined after the last. It reads both of GitLab's ways: `Link`
 * (keyset and numbered pages) and `X-Next-Page` (numbered). Only a link's query is used, never its host,
 * because the token must stay at the configured address.
 */
export function nextPage(headers: Headers): string | undefined {
  const [, query] = /<[^<>?]*\?([^<>]*)>[^<]*;\s*rel="?next\b/i.exec(headers.get('link') ?? '') ?? [];
  const number = headers.get('x-next-page') ?? '';
  return query ?? (/^\d+$/.test(number) ? `page=${number}` : undefined);
}

/** The query of one page: what is asked for, at the place that `page` names. */
export function pageQuery(
  asked: Readonly<Record<string, string>>,
  page: string | undefined,
): URLSearchParams {
  const query = new URLSearchParams(page);
  for (const [name, value] of Object.entries(asked)) query.set(name, value);
  query.set('per_page', String(PER_PAGE));
  return query;
}

/** The body of an answer that has to be there; 404 means that this is not the address of a GitLab. */
function readFound(path: string, answer: RestAnswer): unknown {
  if (answer.status === 200) return answer.body;
  throw new GitLabError(
    'gitlab_unreadable',
    `GET ${path}: GitLab at ${answer.baseUrl} answered ${answer.status}. Check that this is GitLab's address, and its version.`,
  );
}

/** Names fields, never their values. */
export const unreadFields = ({ issues }: z.ZodError): string =>
  [...new Set(issues.map(({ path }) => path.join('.') || 'the answer'))].slice(0, 3).join(', ');

/** The answer to `GET path`; undefined if GitLab says 404. @throws {GitLabError} */
export async function readOne<S extends z.ZodType>(
  path: string,
  schema: S,
  deps: RestCallDeps,
): Promise<z.output<S> | undefined> {
  const answer = await restCall(path, new URLSearchParams(), deps);
  if (answer.status === 404) return undefined;
  const read = schema.safeParse(readFound(path, answer));
  if (read.success) return read.data;
  const fields = unreadFields(read.error);
  throw new GitLabError('gitlab_unreadable', `GET ${path}: not as documented: ${fields}`);
}

export const readPage = async <Name extends string, S extends z.ZodType>(
  name: Name,
  path: string,
  query: URLSearchParams,
  schema: S,
  deps: RestCallDeps,
): Promise<Page<Name, z.output<S>>> => pageOf(name, path, await restCall(path, query, deps), schema);

export function pageOf<Name extends string, S extends z.ZodType>(
  name: Name,
  path: string,
  answer: RestAnswer,
  schema: S,
): Page<Name, z.output<S>> {
  const entries = readFound(path, answer);
  if (!Array.isArray(entries))
    throw new GitLabError('gitlab_unreadable', `GET ${path}: the answer is not a list`);
  const found = entries.flatMap((entry) => schema.safeParse(entry).data ?? []);
  const unreadable = entries.length - found.length;
  const next = nextPage(answer.headers);
  const page = { [name]: found, ...(unreadable > 0 && { unreadable }), ...withoutAbsent({ next }) };
  return page as unknown as Page<Name, z.output<S>>;
}

/** All entries of a list that can be read; undefined if it has more than `pagesMax` pages. @throws {GitLabError} */
export async function readWhole<S extends z.ZodType>(
  path: string,
  asked: Readonly<Record<string, string>>,
  schema: S,
  deps: RestCallDeps & { readonly pagesMax: number },
): Promise<readonly z.output<S>[] | undefined> {
  const entries: z.output<S>[] = [];
  let page: string | undefined;
  for (let pages = 0; pages < deps.pagesMax; pages += 1) {
    const found = await readPage('entries', path, pageQuery(asked, page), schema, deps);
    entries.push(...found.entries);
    page = found.next;
    if (page === undefined) return entries;
  }
  return undefined;
}

/** @throws {Error} if it is no plain http or https address; it is never quoted, because it could hold a password. */
export function checkBaseUrl(baseUrl: string): void {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (isHttp && url.username === '' && url.password === '' && url.search === '' && url.hash === '') return;
  throw new Error(
    "GitLab's URL is no plain http or https address; expected one like https://gitlab.example.com",
  );
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Waits, in ms: without one that GitLab names, at most, and how often. */
const BACKGROUND = { waitMs: 2_000, waitMsMax: 60_000, waitsMax: 5 };

/** Repeats a call after a 429, which was not executed, after the delay that GitLab asks for. For background work. */
export async function patiently<Answer>(
  call: () => Promise<Answer>,
  sleep: (delayMs: number) => Promise<void>,
  { waitMs, waitMsMax, waitsMax } = BACKGROUND,
): Promise<Answer> {
  for (let waits = 0; ; waits += 1) {
    try {
      return await call();
    } catch (error) {
      const limited = error instanceof GitLabError && error.code === 'gitlab_rate_limited';
      if (!limited || waits >= waitsMax) throw error;
      await sleep(Math.min(error.retryAfterMs ?? waitMs, waitMsMax));
    }
  }
}
