import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import type { Beat } from '../../functions/core/contract/admissions.ts';
import { withoutAbsent } from '../../policies/without-absent.ts';
import { Timers } from '../connection.ts';
import type { RelayClock } from '../exchange.ts';
import type { Relay } from '../relay.ts';
import { RelayError } from '../relay-error.ts';

/** A router that restarts is back within this time. A relay without streams for longer should be replaced. */
const DOWN_MS_MAX = 30_000;

export type RelayStatus = ReturnType<Relay['status']>;

export function createHealthApp(read: {
  readonly status: () => RelayStatus;
  readonly renderMetrics: () => Promise<string>;
}): Hono {
  const app = new Hono();
  app.get('/healthz', (c) => {
    const status = read.status();
    const healthy = isHealthy(status);
    // An open breaker or a full queue is no reason to replace a relay: the fallback decides, and a restart repairs neither.
    return c.json({ status: healthy ? 'ok' : 'no streams', ...status }, healthy ? 200 : 503);
  });
  app.get('/metrics', async (c) =>
    c.body(await read.renderMetrics(), 200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }),
  );
  return app;
}

/** A relay that never had a stream is unhealthy, or a deployment would stop the old relays for it. */
const isHealthy = ({ downMs, everConnected }: RelayStatus): boolean =>
  everConnected && (downMs === undefined || downMs <= DOWN_MS_MAX);

/**
 * Listens. Resolves with the actual port, since 0 lets the system choose.
 *
 * @throws {RelayError} `config_invalid` if the address is in use or not of this machine.
 */
export function serveHealth(
  app: Hono,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<{ readonly port: number; readonly close: () => void }> {
  return new Promise((resolve, reject) => {
    const server = serve({ fetch: app.fetch, hostname: host, port }, (address) =>
      resolve({ port: address.port, close: () => server.close() }),
    );
    server.on('error', (cause: NodeJS.ErrnoException) => {
      const problem = `cannot serve health on ${host}:${port} (${cause.code}); choose another port`;
      reject(new RelayError('config_invalid', problem, { cause }));
    });
  });
}

/** The watchdog acts after 2 min, so three heartbeats may be lost. */
export const HEARTBEAT_EVERY_MS = 30_000;

/**
 * Writes every 30 s that this relay has streams at the router, directly into the table: while the admit function is down the
 * fallback decides, and the controller must stay enabled.
 *
 * @returns a function that stops it.
 */
export function startHeartbeat(options: {
  readonly status: () => Pick<RelayStatus, 'downMs' | 'everConnected' | 'openStreams'> &
    Partial<Pick<RelayStatus, 'directoryAgeMs' | 'breaker' | 'policyVersion' | 'waitingLines'>> &
    Pick<Beat, 'schema'>;
  readonly answerWithinMs?: number;
  readonly put: (beat: Beat) => Promise<void>;
  readonly clock: RelayClock;
  readonly failed: (error: unknown) => void;
}): () => void {
  const { status, answerWithinMs, put, clock, failed } = options;
  const timers = new Timers<'beat'>(clock);
  timers.every('beat', HEARTBEAT_EVERY_MS, () => {
    const { downMs, everConnected, openStreams, waitingLines, ...more } = status();
    if (!everConnected || downMs !== undefined) return;
    const { schema, directoryAgeMs, breaker, policyVersion } = more;
    const known = withoutAbsent({ schema, directoryAgeMs, breaker, policyVersion, answerWithinMs });
    const waiting = waitingLines?.length ? { waiting: waitingLines } : {};
    put({ atMs: clock.nowMs(), openStreams, ...known, ...waiting }).catch(failed);
  });
  return () => timers.cancelAll();
}
