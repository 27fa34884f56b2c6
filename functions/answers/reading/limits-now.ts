/** The limits in force, whole, with what was carried over. Keep one per process: a set is read once. */
import type { LimitSet } from '../../../policies/limits/limits.ts';
import {
  type LimitsDesk,
  type LimitTable,
  type OpeningEntry,
  type PreviousCounters,
  withOpenings,
} from '../../core/limits/index.ts';

export interface CurrentLimits {
  /** Undefined: none was ever made live, and what is packed with the code is in force. */
  readonly set: string | undefined;
  readonly limits: LimitSet;
}

interface LimitsNowDeps {
  readonly desk: Pick<LimitsDesk, 'live'>;
  readonly table: LimitTable;
  readonly packed: LimitSet;
  readonly previous: PreviousCounters;
  readonly clock: { nowMs(): number };
}

const TIMEOUT_MS = 3_000;

interface Known extends CurrentLimits {
  /** Carried amounts are valid until then, Unix ms. */
  readonly untilMs: number;
}

/**
 * Reads the pointer consistently on each call, so that authors see their edits. The function throws
 * {LimitsError}.
 */
export function limitsNow({
  desk,
  table,
  packed,
  previous,
  clock,
}: LimitsNowDeps): () => Promise<CurrentLimits> {
  const openings = new Map<string, OpeningEntry>();
  let known: Known | undefined;
  let written: CurrentLimits | undefined;
  let reading: Promise<Known> | undefined;

  async function read(set: string | undefined): Promise<Known> {
    if (written === undefined || written.set !== set) {
      const live = await desk.live();
      written = { set: live?.pointer.set, limits: live?.limits ?? packed };
    }
    const nowMs = clock.nowMs();
    const deps = {
      table,
      previous,
      timeoutMs: TIMEOUT_MS,
    };
    const { limits, untilMs } = await withOpenings(written.limits, nowMs, openings, deps);
    return { set: written.set, limits, untilMs };
  }

  return async () => {
    const pointer = await table.getPointer({ timeoutMs: TIMEOUT_MS });
    if (known === undefined || known.set !== pointer?.set || clock.nowMs() >= known.untilMs) {
      reading ??= read(pointer?.set).finally(() => {
        reading = undefined;
      });
      known = await reading;
    }
    return known;
  };
}
