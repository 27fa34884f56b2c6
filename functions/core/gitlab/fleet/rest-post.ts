import { GitLabError } from '../gitlab.ts';
import { apiUrl, type RestCallDeps, readToken } from '../rest-call.ts';

interface PostAnswer {
  readonly status: number;
  /** Parsed JSON; undefined unless the status is 201, or where it is no JSON. */
  readonly body: unknown;
}

/**
 * One POST of GitLab's REST API, tried once: a second try could make a second thing.
 * @param path - below `/api/v4`, e.g. `/user/runners`.
 * @throws {GitLabError} It may or may not have been made.
 */
export async function restPost(
  path: string,
  wanted: object,
  timeoutMs: number,
  { baseUrl, token, fetch, timeout = AbortSignal.timeout }: RestCallDeps,
): Promise<PostAnswer> {
  const call = `POST ${path}`;
  const headers = { 'content-type': 'application/json', 'private-token': await readToken(token) };
  // A redirect would carry the token to whoever it names.
  const init = { method: 'POST', headers, body: JSON.stringify(wanted), redirect: 'manual' } as const;
  const { status, text } = await fetch(apiUrl(baseUrl, path, new URLSearchParams()), {
    ...init,
    signal: timeout(timeoutMs),
  })
    .then(async (answered) => ({ status: answered.status, text: await answered.text() }))
    .catch((cause: unknown) => {
      throw new GitLabError(
        'gitlab_unavailable',
        `${call}: GitLab is out of reach or silent for ${timeoutMs} ms`,
        {
          cause,
        },
      );
    });
  const said = `${call}: GitLab answered ${status}`;
  if (status === 401 || status === 403)
    throw new GitLabError('gitlab_refused', `${said}; the token needs the scope api and an administrator`);
  if (status === 429) throw new GitLabError('gitlab_rate_limited', said);
  if (status >= 500 || status === 408) throw new GitLabError('gitlab_unavailable', said);
  // GitLab's own sentence stays where it is: it may quote what was sent.
  return { status, body: status === 201 ? jsonOf(text) : undefined };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
