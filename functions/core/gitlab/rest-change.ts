import { GitLabError } from './gitlab.ts';
import {
  answered,
  apiUrl,
  type RestCallDeps,
  rateLimited,
  readToken,
  sendOnce,
  tokenRefused,
} from './rest-call.ts';

interface RestChange {
  readonly status: number;
  /** Parsed JSON; undefined unless the status is 200 or 201, or where it is no JSON. */
  readonly body: unknown;
}

/**
 * Sends one change through GitLab's REST API, once: the caller checks the result before a repeat. 400, 404,
 * 409, 412 and 422 are returned.
 *
 * @param path - below `/api/v4`, e.g. `/runner_controllers/7`.
 * @throws {GitLabError} It may or may not have been made.
 */
export async function restChange(
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
  change: object | undefined,
  timeoutMs: number,
  deps: RestCallDeps,
): Promise<RestChange> {
  const call = `${method} ${path}`;
  const headers = {
    'private-token': await readToken(deps.token),
    ...(change !== undefined && { 'content-type': 'application/json' }),
  };
  const body = change === undefined ? {} : { body: JSON.stringify(change) };
  const url = apiUrl(deps.baseUrl, path, new URLSearchParams());
  const { response, text } = await sendOnce(call, url, { method, headers, ...body }, timeoutMs, deps);
  const { status } = response;
  const said = answered(call, deps, status);
  if (status === 401 || status === 403) throw tokenRefused(said, status, 'api');
  if (status === 429) throw rateLimited(said, response.headers, deps.clock.nowMs());
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
