import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import type { WaitingLine } from '../functions/core/contract/index.ts';
import type { BreakerState } from './breaker.ts';
import { RelayError } from './relay-error.ts';
import type { SchemaState } from './wire/schema-proof.ts';

/** A router that restarts is back within this; a relay that hears nothing for longer should be replaced or looked at. */
const DOWN_MS_MAX = 30_000;

/** What a relay knows of itself. */
export interface RelayStatus {
  readonly state: string;
  /** Streams that the router accepted. */
  readonly openStreams: number;
  readonly waitingStreams: number;
  /** Questions that have no answer yet. */
  readonly busyStreams: number;
  /** How long there has been no stream at the router; absent while there is one. */
  readonly downMs: number | undefined;
  /** Whether there ever was a stream at the router. */
  readonly everConnected: boolean;
  /** Absent before the first answer. */
  readonly lastAnswerAgeMs: number | undefined;
  readonly schema: {
    readonly source: string;
    readonly hash: string;
    readonly placeholder: boolean;
    readonly standing: SchemaState;
  };
  readonly breaker: BreakerState['name'];
  /** Jobs waiting for the ledger. */
  readonly openJobs: number;
  /** Jobs that wait for room, and the longest of their lines. */
  readonly waitingJobs: number;
  readonly waitingLines: readonly WaitingLine[];
  readonly unmeteredQueued: number;
  /** Since all groups of GitLab were listed; before there is a directory, since the start. */
  readonly directoryAgeMs: number;
  /** Whether there is a directory that is not too old to judge by. */
  readonly directoryKnown: boolean;
}

interface HealthDeps {
  readonly status: () => RelayStatus;
  readonly renderMetrics: () => Promise<string>;
}

/** `GET /healthz` for the container's health check, `GET /metrics` for Prometheus. */
export function createHealthApp(deps: HealthDeps): Hono {
  const app = new Hono();
  app.get('/healthz', (c) => {
    const status = deps.status();
    const healthy = isHealthy(status);
    // A tripped breaker or a full queue is no reason to be replaced: the fallback answers, and a restart helps nobody.
    return c.json({ status: healthy ? 'ok' : 'no streams', ...status }, healthy ? 200 : 503);
  });
  app.get('/metrics', async (c) =>
    c.body(await deps.renderMetrics(), 200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }),
  );
  return app;
}

/** A relay that has not had a stream yet is not well: a deployment must not end the old relays on its word. */
const isHealthy = ({ downMs, everConnected }: RelayStatus): boolean =>
  everConnected && (downMs === undefined || downMs <= DOWN_MS_MAX);

/**
 * Listens; resolves with the port (which may have been 0) and a way to stop.
 *
 * @throws {RelayError} `config_invalid` if the address is taken or not ours.
 */
export function serveHealth(
  app: Hono,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<{ readonly port: number; readonly close: () => void }> {
  return new Promise((resolve, reject) => {
    const server = serve({ fetch: app.fetch, hostname: host, port }, (address) =>
      resolve({ port: address.port, close: () => server.close() }),
    );
    server.on('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new RelayError(
          'config_invalid',
          `cannot serve health on ${host}:${port} (${cause.code}); choose another port`,
          {
            cause,
          },
        ),
      ),
    );
  });
}
