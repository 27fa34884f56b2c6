import type { z } from 'zod';
import { parsedJson } from '../../../policies/document/reading.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { notReached } from '../contract/network.ts';
import type { LedgerClock } from '../environment/environment.ts';
import { doubling, retried } from '../store/table-failure.ts';
import { GitLabError, type GitLabErrorCode, type Page } from './gitlab.ts';

export interface RestCallDeps {
  readonly baseUrl: string;
  /** Read for every call, so that a rotated token needs no restart. */
  readonly token: () => Promise<string>;
  readonly fetch: typeof fetch;
  readonly clock: Pick<LedgerClock, 'nowMs' | 'monotonicMs' | 'sleep'>;
  readonly random?: () => number;
  readonly timeoutMs?: number;
  readonly deadlineMs?: number;
}

export interface RestAnswer {
  readonly baseUrl: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

export const GRAPHQL = '/graphql';

const TIMEOUT_MS = 5_000;
const DEADLINE_MS = 15_000;
const TRIES_MAX = 4;
const BACKOFF_MS_MIN = 250;
const BACKOFF_MS_MAX = 4_000;
const TRY_MS_MIN = 100;

/** Tries 5xx, 408 and silence again inside the deadline; returns 404 and 405. @param path - below `/api/v4` @throws {GitLabError} */
export async function restCall(path: string, query: URLSearchParams, deps: RestCallDeps) {
  const { clock, random = Math.random } = deps;
  const endMs = clock.monotonicMs() + (deps.deadlineMs ?? DEADLINE_MS);
  const ask = (): Promise<RestAnswer | GitLabError> => {
    const leftMs = endMs - clock.monotonicMs();
    const timeoutMs = Math.max(TRY_MS_MIN, Math.min(deps.timeoutMs ?? TIMEOUT_MS, Math.floor(leftMs)));
    return restOnce('GET', path, undefined, timeoutMs, deps, query).catch((error: unknown) => {
      if (error instanceof GitLabError) return error;
      throw error;
    });
  };
  const isUnavailable = (answer: RestAnswer | GitLabError): boolean =>
    answer instanceof GitLabError && answer.code === 'gitlab_unavailable';
  const answer = await retried(ask, isUnavailable, {
    ...{ clock, random, triesMax: TRIES_MAX },
    pauseMsMax: doubling(BACKOFF_MS_MIN, BACKOFF_MS_MAX),
    isTimeFor: (pauseMs) => endMs - clock.monotonicMs() - pauseMs >= TRY_MS_MIN,
  });
  if (answer instanceof GitLabError) throw answer;
  return answer;
}

/** One call, without a repeat. Returns 404 and 405, and of changes 400, 409, 412 and 422. @throws {GitLabError} A change may have been made. */
export async function restOnce(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  change: object | undefined,
  timeoutMs: number,
  deps: RestCallDeps,
  query = new URLSearchParams(),
): Promise<RestAnswer> {
  const { baseUrl } = deps;
  const call = `${method} ${path}`;
  const root = path === GRAPHQL ? '/api' : '/api/v4';
  const url = `${baseUrl.replace(/\/+$/, '')}${root}${path}${query.size === 0 ? '' : `?${query}`}`;
  const headers = { accept: 'application/json', 'private-token': await readToken(deps.token) };
  const signal = AbortSignal.timeout(timeoutMs);
  const sent = change && {
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(change),
  };
  // A redirect is an answer: fetch would carry the token along.
  const { response, text } = await deps
    .fetch(url, { method, headers, ...sent, redirect: 'manual', signal })
    .then(async (answer) => ({ response: answer, text: await answer.text() }))
    .catch((cause: unknown) => {
      const why = signal.aborted ? new DOMException(`${timeoutMs} ms`, 'TimeoutError') : cause;
      throw new GitLabError('gitlab_unavailable', notReached(`${call}: GitLab`, url, why), { cause });
    });
  const { status } = response;
  const body = status === 200 || status === 201 ? parsedJson(text) : undefined;
  const failure = classifyFailure(response, body, method === 'GET', baseUrl);
  if (failure === undefined) return { baseUrl, status, headers: response.headers, body };
  const [code, remedy] = failure;
  const retryAfterMs =
    status === 429 ? readRetryAfter(response.headers.get('retry-after'), deps.clock.nowMs()) : undefined;
  throw new GitLabError(code, `${call}: GitLab at ${baseUrl} answered ${status}. ${remedy}`, {
    ...{ status, ...withoutAbsent({ retryAfterMs }) },
  });
}

/** Undefined: an answer for the caller to judge. */
function classifyFailure(
  { status, headers }: Response,
  body: unknown,
  isRead: boolean,
  baseUrl: string,
): readonly [GitLabErrorCode, remedy: string] | undefined {
  if (status === 401) return ['gitlab_refused', 'The token is wrong, revoked or has expired.'];
  if (status === 403) {
    const scope = isRead ? 'read_api' : 'api';
    return ['gitlab_refused', `The token needs the scope ${scope} and an administrator.`];
  }
  if (status === 429) return ['gitlab_rate_limited', 'Wait, and try again.'];
  if (status >= 500 || status === 408)
    return ['gitlab_unavailable', 'GitLab is overloaded or being updated: try again later.'];
  if (!isRead || status === 404 || status === 405 || body !== undefined) return undefined;
  if (status >= 300 && status < 400) {
    // Only the origin of an address: the rest can hold secrets.
    const to = URL.parse(headers.get('location') ?? '', baseUrl)?.origin ?? 'elsewhere';
    const remedy = `It is a redirect to ${to}: a sign-in in front of GitLab must let the API pass.`;
    return ['gitlab_unreadable', remedy];
  }
  if (status !== 200) return ['gitlab_unreadable', "Check GitLab's version."];
  // The parser's own message would quote the body.
  const remedy =
    "The body is not JSON. Check that this is GitLab's address, and that no proxy or sign-in page answers in its place.";
  return ['gitlab_unreadable', remedy];
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
 * The query of the next page, by `Link` or `X-Next-Page`. Only a link's query is used, never its host, because the token must stay
 * at the configured address.
 */
export function nextPage(headers: Headers): string | undefined {
  const [, query] = /<[^<>?]*\?([^<>]*)>[^<]*;\s*rel="?next\b/i.exec(headers.get('link') ?? '') ?? [];
  const number = headers.get('x-next-page') ?? '';
  return query ?? (/^\d+$/.test(number) ? `page=${number}` : undefined);
}

export function pageQuery(fields: Readonly<Record<string, string>>, page: string | undefined) {
  const query = new URLSearchParams(page);
  for (const [name, value] of Object.entries(fields)) query.set(name, value);
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
export async function readOne<S extends z.ZodType>(path: string, schema: S, deps: RestCallDeps) {
  const answer = await restCall(path, new URLSearchParams(), deps);
  if (answer.status === 404) return undefined;
  const read = schema.safeParse(readFound(path, answer));
  if (read.success) return read.data;
  const fields = unreadFields(read.error);
  throw new GitLabError('gitlab_unreadable', `GET ${path}: not as documented: ${fields}`);
}

/** Makes a change and returns its object as GitLab answers it. @throws {GitLabError} It may or may not have been made. */
export async function changed<S extends z.ZodType>(
  method: 'POST' | 'PUT',
  path: string,
  change: object,
  schema: S,
  deps: RestCallDeps,
  timeoutMs = TIMEOUT_MS,
): Promise<z.output<S>> {
  const { status, body } = await restOnce(method, path, change, timeoutMs, deps);
  const read = schema.safeParse(body);
  if (status < 300 && read.success) return read.data;
  const says = read.success ? '' : `, not as documented: ${unreadFields(read.error)}`;
  throw new GitLabError('gitlab_unreadable', `${method} ${path}: GitLab answered ${status}${says}`, {
    status,
  });
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
  fields: Readonly<Record<string, string>>,
  schema: S,
  deps: RestCallDeps & { readonly pagesMax: number },
): Promise<readonly z.output<S>[] | undefined> {
  const entries: z.output<S>[] = [];
  let page: string | undefined;
  for (let pages = 0; pages < deps.pagesMax; pages += 1) {
    const found = await readPage('entries', path, pageQuery(fields, page), schema, deps);
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

/** Waits, in ms: without one that GitLab names, at most, and how often. */
const BACKGROUND = { waitMs: 2_000, waitMsMax: 60_000, waitsMax: 5 };

/** Repeats a call after a 429, which was not executed, after the delay that GitLab asks for. For background work. */
export async function retryWhenLimited<Answer>(
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
