import { admitRoutes } from '../../functions/admit/routes.ts';
import type { Fetch } from '../../relay/admit/admit-call.ts';

/** Stands in for a URL; nothing listens there and nothing is sent. */
export const INLINE_URL = 'http://admit.inline';

/**
 * The admit function inside this process: the same routes, the same contract, no network. For one machine and for small
 * sites; the ledger, the limits in force and what is known of how long jobs last are whatever the dependencies say.
 */
export function inlineFetch(deps: Parameters<typeof admitRoutes>[0]): Fetch {
  const answer = admitRoutes(deps);
  return async (url, { method = 'GET', body, signal }) => {
    signal?.throwIfAborted();
    const { pathname: path } = new URL(url);
    const answered = await answer({ method, path, text: String(body ?? '') });
    return Response.json(answered.body, { status: answered.status });
  };
}
