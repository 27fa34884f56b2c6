import type { Beat, BeatSchema } from '../../functions/core/contract/index.ts';
import { withoutAbsent } from '../../policies/without-absent.ts';
import type { RelayClock } from '../exchange.ts';
import type { RelayStatus } from './health.ts';

/** The watchdog acts after 2 min, so three heartbeats may be lost. */
export const HEARTBEAT_EVERY_MS = 30_000;

interface HeartbeatOptions {
  readonly status: () => Pick<RelayStatus, 'downMs' | 'everConnected' | 'openStreams'> &
    Partial<Pick<RelayStatus, 'directoryAgeMs' | 'breaker' | 'waitingLines'>> & {
      readonly schema?: BeatSchema;
    };
  readonly policyVersion: string | undefined;
  /** @see Beat.answerWithinMs */
  readonly answerWithinMs?: number;
  /** Has a timeout of its own. */
  readonly put: (beat: Beat) => Promise<void>;
  readonly clock: RelayClock;
  readonly failed: (error: unknown) => void;
}

/**
 * Writes every 30 s that this relay has streams at the router, directly into the table: while the admit function is down the
 * fallback decides, and the controller must stay enabled.
 *
 * @returns a function that stops it.
 */
export function startHeartbeat(options: HeartbeatOptions): () => void {
  const { status, policyVersion, answerWithinMs, put, clock, failed } = options;
  let cancel = (): void => {};
  const beat = (): void => {
    cancel = clock.after(HEARTBEAT_EVERY_MS, beat);
    const { downMs, everConnected, openStreams, schema, directoryAgeMs, breaker, waitingLines } = status();
    if (!everConnected || downMs !== undefined) return;
    const known = withoutAbsent({ schema, directoryAgeMs, breaker, policyVersion, answerWithinMs });
    const waiting = waitingLines?.length ? { waiting: waitingLines } : {};
    put({ atMs: clock.nowMs(), openStreams, ...known, ...waiting }).catch(failed);
  };
  cancel = clock.after(HEARTBEAT_EVERY_MS, beat);
  return () => cancel();
}
