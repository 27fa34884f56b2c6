import type { Beat, BeatSchema } from '../../functions/core/contract/index.ts';
import { withoutAbsent } from '../../policies/without-absent.ts';
import type { RelayClock } from '../exchange.ts';
import type { RelayStatus } from '../health.ts';

/** The watchdog gives up on us after 2 min: three beats may be lost on the way. */
export const BEAT_EVERY_MS = 30_000;

interface HeartbeatDeps {
  readonly status: () => Pick<RelayStatus, 'downMs' | 'everConnected' | 'openStreams'> &
    /** Absent: a relay that does not know. */
    Partial<Pick<RelayStatus, 'directoryAgeMs' | 'breaker' | 'waitingLines'>> & {
      readonly schema?: BeatSchema;
    };
  /** Absent: it has none. */
  readonly policyVersion: string | undefined;
  /** @see Beat.answerWithinMs */
  readonly answerWithinMs?: number;
  /** Has a timeout of its own. */
  readonly put: (beat: Beat) => Promise<void>;
  readonly clock: RelayClock;
  readonly failed: (error: unknown) => void;
}

/**
 * Says every 30 s that this relay can be asked, as long as a stream waits or works at the router. It goes its own way, not
 * through the admit function: when that is dead the fallback answers, and nothing needs to be disarmed.
 *
 * @returns what ends it.
 */
export function startHeartbeat(deps: HeartbeatDeps): () => void {
  const { status, policyVersion, answerWithinMs, put, clock, failed } = deps;
  let cancel = (): void => {};
  const beat = (): void => {
    cancel = clock.after(BEAT_EVERY_MS, beat);
    const { downMs, everConnected, openStreams, schema, directoryAgeMs, breaker, waitingLines } = status();
    if (!everConnected || downMs !== undefined) return;
    const known = withoutAbsent({ schema, directoryAgeMs, breaker, policyVersion, answerWithinMs });
    const waiting = waitingLines?.length ? { waiting: waitingLines } : {};
    put({ atMs: clock.nowMs(), openStreams, ...known, ...waiting }).catch(failed);
  };
  cancel = clock.after(BEAT_EVERY_MS, beat);
  return () => cancel();
}
