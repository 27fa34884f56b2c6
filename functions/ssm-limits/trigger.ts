/** What starts a run: the schedule, or a change of a parameter. An event says only that it is time; its content is not used. */
import { isRecord } from '../../policies/document/reading.ts';
import type { LedgerClock } from '../core/ledger/ledger.ts';

/** After a change it is waited so long, so that changes that come together are one run. */
const QUIET_MS = 10_000;
/** What was written so long before a listing began is in it. */
const LISTED_AFTER_MS = 2_000;

/** When a parameter was changed, Unix ms; now, if its time is unreadable; undefined: it is the schedule. */
export function changedAtMs(event: unknown, nowMs: number): number | undefined {
  if (!isRecord(event) || event.source !== 'aws.ssm') return undefined;
  const atMs = typeof event.time === 'string' ? Date.parse(event.time) : Number.NaN;
  // EventBridge cuts times to whole seconds.
  return Number.isNaN(atMs) ? nowMs : atMs + 999;
}

/**
 * Waits until a change has settled. False: a listing that began later came to its end, so there is nothing to do.
 *
 * @param completeFromMs - when the last complete listing began, Unix ms.
 */
export async function isTimeFor(
  atMs: number | undefined,
  completeFromMs: () => Promise<number | undefined>,
  clock: Pick<LedgerClock, 'nowMs' | 'sleep'>,
): Promise<boolean> {
  if (atMs === undefined) return true;
  const listedFromMs = await completeFromMs();
  if (listedFromMs !== undefined && atMs + LISTED_AFTER_MS <= listedFromMs) return false;
  const waitMs = Math.min(atMs + QUIET_MS - clock.nowMs(), QUIET_MS);
  if (waitMs > 0) await clock.sleep(waitMs);
  return true;
}
