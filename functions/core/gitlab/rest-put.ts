import { GitLabError } from './gitlab.ts';
import { apiUrl, type RestCallDeps, readToken } from './rest-call.ts';

interface PutAnswer {
  readonly status: number;
  /** Parsed JSON; undefined unless the status is 200, or where it is no JSON. */
  readonly body: unknown;
}

/**
 * One PUT of GitLab's REST API, tried once: whoever changes something looks whether it changed before it is said again.
 * @param path - below `/api/v4`, e.g. `/runner_controllers/7`.
 * @throws {GitLabError} It may or may not have been made.
 */
export async function restPut(
  path: string,
  change: object,
  timeoutMs: number,
  { baseUrl, token, fetch, timeout = AbortSignal.timeout }: RestCallDeps,
): Promise<PutAnswer> {
  const call = `PUT ${path}`;
  const headers = { 'content-type': 'application/json', 'private-token': await readToken(token) };
  // A redirect would carry the token to whoever it names.
  const init = { method: 'PUT', headers, body: JSON.stringify(change), redirect: 'manual' } as const;
  const { status, text } = await fetch(apiUrl(baseUrl, path, new URLSearchParams()), {
    ...init,
    signal: timeout(timeoutMs),
  })
    .then(async (answered) => ({ status: answered.status, text: await answered.text() }))
    .catch((cause: unknown) => {
      throw new GitLabError(
        'gitlab_unavailable',
        `${call}: GitLab is out of reach or silent for ${timeoutMs} ms`,
        { cause },
      );
    });
  const said = `${call}: GitLab answered ${status}`;
  if (status === 401 || status === 403)
    throw new GitLabError('gitlab_refused', `${said}; the token needs the scope api and an administrator`);
  if (status === 429) throw new GitLabError('gitlab_rate_limited', said);
  if (status >= 500 || status === 408) throw new GitLabError('gitlab_unavailable', said);
  return { status, body: status === 200 ? parsed(text) : undefined };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
