import { admitRoutes } from '../../functions/admit/routes.ts';
import type { Fetch } from '../../relay/admit/admit-call.ts';

/** Stands for a URL; nothing is sent there. */
export const INLINE_URL = 'http://admit.inline';

/** The admit function inside this process: the same routes and contract, without a network. */
export function inlineFetch(deps: Parameters<typeof admitRoutes>[0]): Fetch {
  const answer = admitRoutes(deps);
  return async (url, { method = 'GET', body, signal }) => {
    signal?.throwIfAborted();
    const { pathname: path } = new URL(url);
    const answered = await answer({ method, path, text: String(body ?? '') });
    return Response.json(answered.body, { status: answered.status });
  };
}
