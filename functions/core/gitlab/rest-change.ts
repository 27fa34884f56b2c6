import { GitLabError } from './gitlab.ts';
import { apiUrl, type RestCallDeps, rateLimited, readToken } from './rest-call.ts';

interface RestChange {
  readonly status: number;
  /** Parsed JSON; undefined unless the status is 200 or 201, or where it is no JSON. */
  readonly body: unknown;
}

/**
 * One change over GitLab's REST API, tried once: whoever changes something looks whether it changed before it is said again.
 * 400, 404, 409, 412 and 422 are answers for the caller to judge.
 * @param path - below `/api/v4`, e.g. `/runner_controllers/7`.
 * @throws {GitLabError} It may or may not have been made.
 */
export async function restChange(
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
  change: object | undefined,
  timeoutMs: number,
  { baseUrl, token, fetch, clock, timeout = AbortSignal.timeout }: RestCallDeps,
): Promise<RestChange> {
  const call = `${method} ${path}`;
  const headers = {
    'private-token': await readToken(token),
    ...(change !== undefined && { 'content-type': 'application/json' }),
  };
  // A redirect would carry the token to whoever it names.
  const init = { method, headers, redirect: 'manual' } as const;
  const { response, text } = await fetch(apiUrl(baseUrl, path, new URLSearchParams()), {
    ...init,
    ...(change !== undefined && { body: JSON.stringify(change) }),
    signal: timeout(timeoutMs),
  })
    .then(async (answered) => ({ response: answered, text: await answered.text() }))
    .catch((cause: unknown) => {
      throw new GitLabError(
        'gitlab_unavailable',
        `${call}: GitLab is out of reach or silent for ${timeoutMs} ms`,
        { cause },
      );
    });
  const { status } = response;
  const said = `${call}: GitLab answered ${status}`;
  if (status === 401 || status === 403)
    throw new GitLabError('gitlab_refused', `${said}; the token needs the scope api and an administrator`, {
      status,
    });
  if (status === 429) throw rateLimited(said, response.headers, clock.nowMs());
  if (status >= 500 || status === 408) throw new GitLabError('gitlab_unavailable', said, { status });
  return { status, body: status === 200 || status === 201 ? parsed(text) : undefined };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
