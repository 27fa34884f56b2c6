import { notReached } from '../contract/index.ts';
import { doubling, retried } from '../store/index.ts';
import { GitLabError } from './gitlab.ts';

/** The ledger's clock fits. */
interface GitLabClock {
  /** Wall clock, Unix ms. */
  nowMs(): number;
  monotonicMs(): number;
  sleep(delayMs: number): Promise<void>;
}

export interface RestCallDeps {
  /** GitLab's address, e.g. `https://gitlab.example.com`; a path is kept. */
  readonly baseUrl: string;
  /** Read for every call, so that a rotated token needs no restart. */
  readonly token: () => Promise<string>;
  /** Header of the token. @default 'private-token' */
  readonly tokenHeader?: 'private-token' | 'runner-token';
  readonly fetch: typeof fetch;
  readonly clock: GitLabClock;
  /** @default Math.random */
  readonly random?: () => number;
  /** Aborts a try after so many ms. @default AbortSignal.timeout */
  readonly timeout?: (timeoutMs: number) => AbortSignal;
  /** One try. @default 5_000 */
  readonly timeoutMs?: number;
  /** One call with all its tries and the waits between. @default 15_000 */
  readonly deadlineMs?: number;
}

export interface RestAnswer {
  /** The GitLab that gave it. */
  readonly baseUrl: string;
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON; undefined unless the status is 200. */
  readonly body: unknown;
}

const TIMEOUT_MS = 5_000;
const DEADLINE_MS = 15_000;
/** A GitLab that fails four times in a row is down: the next sweep asks again. */
const TRIES_MAX = 4;
const BACKOFF_MS_MIN = 250;
const BACKOFF_MS_MAX = 4_000;
/** Less remaining time is not worth a try. */
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
    return tryOnce(path, query, timeoutMs, deps).catch((error: unknown) => {
      if (error instanceof GitLabError) return error;
      throw error;
    });
  };
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

const isUnavailable = (answer: RestAnswer | GitLabError): boolean =>
  answer instanceof GitLabError && answer.code === 'gitlab_unavailable';

async function tryOnce(
  path: string,
  query: URLSearchParams,
  timeoutMs: number,
  deps: RestCallDeps,
): Promise<RestAnswer> {
  const call = `GET ${path}`;
  const headers = {
    accept: 'application/json',
    [deps.tokenHeader ?? 'private-token']: await readToken(deps.token),
  };
  const url = apiUrl(deps.baseUrl, path, query);
  const { response, text } = await sendOnce(call, url, { headers }, timeoutMs, deps);
  const { status, headers: given } = response;
  const { baseUrl } = deps;
  if (status === 200) return { baseUrl, status, headers: given, body: parseJson(call, response, text, deps) };
  if (status === 404 || status === 405) return { baseUrl, status, headers: given, body: undefined };
  throw refusal(call, response, deps);
}

/**
 * One request and the whole of its answer, within `timeoutMs`. A redirect is an answer: fetch would carry the token along to
 * wherever it leads.
 * @throws {GitLabError} `gitlab_unavailable`; what was to be changed may or may not be.
 */
export function sendOnce(
  call: string,
  url: string,
  init: RequestInit,
  timeoutMs: number,
  { fetch, timeout = AbortSignal.timeout }: Pick<RestCallDeps, 'fetch' | 'timeout'>,
): Promise<{ readonly response: Response; readonly text: string }> {
  const signal = timeout(timeoutMs);
  return fetch(url, { ...init, redirect: 'manual', signal })
    .then(async (response) => ({ response, text: await response.text() }))
    .catch((cause: unknown) => {
      const why = signal.aborted ? new DOMException(`${timeoutMs} ms`, 'TimeoutError') : cause;
      throw new GitLabError('gitlab_unavailable', notReached(`${call}: GitLab`, url, why), { cause });
    });
}

/** The begin of a message about an answer. */
export const answered = (call: string, { baseUrl }: Pick<RestCallDeps, 'baseUrl'>, status: number): string =>
  `${call}: GitLab at ${baseUrl} answered ${status}`;

function refusal(call: string, { status, headers }: Response, deps: RestCallDeps): GitLabError {
  const said = answered(call, deps, status);
  if (status === 429) return rateLimited(said, headers, deps.clock.nowMs());
  if (status === 401 || status === 403) return tokenRefused(said, status, 'read_api');
  if (status >= 500 || status === 408)
    return new GitLabError(
      'gitlab_unavailable',
      `${said}. GitLab is overloaded or being updated: try again later.`,
      { status },
    );
  if (status >= 300 && status < 400)
    return new GitLabError('gitlab_unreadable', `${said}, ${redirectText(headers, deps.baseUrl)}`, {
      status,
    });
  return new GitLabError('gitlab_unreadable', said, { status });
}

export function tokenRefused(said: string, status: 401 | 403, scope: 'api' | 'read_api'): GitLabError {
  const remedy =
    status === 401
      ? 'The token is wrong, revoked or has expired.'
      : `The token needs the scope ${scope} and an administrator.`;
  return new GitLabError('gitlab_refused', `${said}. ${remedy}`, { status });
}

/** Quotes only the origin of an address, because the rest can hold secrets. */
function redirectText(headers: Headers, baseUrl: string): string {
  const to = URL.parse(headers.get('location') ?? '', baseUrl);
  if (to === null) return "a redirect. Set the address it leads to as GitLab's.";
  if (/\/(sign_in|login|saml|oauth2?|auth)\b/i.test(to.pathname))
    return `a redirect to a sign-in page at ${to.origin}. Let the API pass whatever asks for a sign-in before GitLab, or set GitLab's own address.`;
  return `a redirect to ${to.origin}. Set GitLab's address to that one, if it is GitLab.`;
}

/** A 429 comes as text or as JSON: only its header is read. */
export function rateLimited(said: string, headers: Headers, nowMs: number): GitLabError {
  const retryAfterMs = readRetryAfter(headers.get('retry-after'), nowMs);
  return new GitLabError('gitlab_rate_limited', said, {
    status: 429,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

/** Longer than any pause GitLab asks for: a typo in a proxy must not stop the sweep for days. */
const RETRY_AFTER_MS_MAX = 3_600_000;

/** Seconds, or a date. */
function readRetryAfter(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined;
  const waitMs = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isNaN(waitMs) ? undefined : Math.min(RETRY_AFTER_MS_MAX, Math.max(0, waitMs));
}

export async function readToken(token: () => Promise<string>): Promise<string> {
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

export function apiUrl(baseUrl: string, path: string, query: URLSearchParams): string {
  const search = query.size === 0 ? '' : `?${query}`;
  return `${baseUrl.replace(/\/+$/, '')}/api/v4${path}${search}`;
}

function parseJson(call: string, { headers }: Response, text: string, { baseUrl }: RestCallDeps): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message would quote the body.
    const isPage = /html/.test(headers.get('content-type') ?? '');
    throw new GitLabError(
      'gitlab_unreadable',
      `${call}: ${baseUrl} answered with ${isPage ? 'a web page' : 'something that is not JSON'}. Check that this is GitLab's address, and that no proxy or sign-in page answers in its place.`,
    );
  }
}
