import { createAdmitApp } from '../../functions/admit/app.ts';
import type { Fetch } from '../../relay/admit-call.ts';

/** Stands in for a URL; nothing listens there and nothing is sent. */
export const INLINE_URL = 'http://admit.inline';

/**
 * The admit function inside this process: the same app, the same contract, no network. For one machine and for small
 * sites; the ledger, the limits in force and what is known of how long jobs last are whatever the dependencies say.
 */
export function inlineFetch(deps: Parameters<typeof createAdmitApp>[0]): Fetch {
  const app = createAdmitApp(deps);
  return async (url, init) => app.fetch(new Request(url, init));
}
