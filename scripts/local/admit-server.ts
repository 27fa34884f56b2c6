import { serve } from '@hono/node-server';
import { createAdmitApp } from '../../functions/admit/app.ts';
import type { Rules } from '../../functions/admit/decide.ts';
import type { Ledger } from '../../functions/ledger/ledger.ts';
import { systemClock } from '../../functions/ledger/system-clock.ts';
import { silentLog } from '../../functions/shared/log.ts';

/** The admit function on loopback: the app that Lambda runs, behind a socket. */
export interface AdmitServer {
  readonly url: string;
  stop(): Promise<void>;
}

export function serveAdmit(ledger: Ledger, rules: Rules): Promise<AdmitServer> {
  const app = createAdmitApp({ ledger, currentRules: async () => rules, clock: systemClock, log: silentLog });
  return new Promise((resolve) => {
    const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) =>
      resolve({
        url: `http://127.0.0.1:${port}`,
        stop: () =>
          new Promise((stopped) => {
            server.close(() => stopped());
            // Idle keep-alive connections would hold it open.
            if ('closeAllConnections' in server) server.closeAllConnections();
          }),
      }),
    );
  });
}
