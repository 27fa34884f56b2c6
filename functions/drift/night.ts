import { DAY_MS } from '../../policies/limits/calendar.ts';
import { type LastRecount, RECOUNT_EVERY_MS } from '../core/ledger/index.ts';

/** 02:20 UTC. Away from midnight, when periods end and everybody's schedules start. */
const NIGHT_AT_MS = (2 * 60 + 20) * 60_000;

const NIGHTS = RECOUNT_EVERY_MS / DAY_MS;

interface RecountReasons {
  /** When the second sums last left a doubt, Unix ms. */
  readonly doubtedAtMs?: number | undefined;
  readonly nowMs: number;
}

/**
 * Whether a full recount is to begin: once a week, and from the next night on for as long as there is a doubt. A recount that was not
 * clean is one, and so is what the second sums found since it began.
 */
export function isRecountDue(
  last: LastRecount | undefined,
  { doubtedAtMs = 0, nowMs }: RecountReasons,
): boolean {
  if (last === undefined) return true;
  const nights = nightOf(nowMs) - nightOf(last.startedAtMs);
  const isDoubted = doubtedAtMs >= last.startedAtMs || !isClean(last);
  return nights >= (isDoubted ? 1 : NIGHTS);
}

const isClean = ({ found: { drift, passedOver, unclosed } }: LastRecount): boolean =>
  drift.length + passedOver + unclosed === 0;

/** Which night it is, or the last one was. */
export const nightOf = (atMs: number): number => Math.floor((atMs - NIGHT_AT_MS) / DAY_MS);
