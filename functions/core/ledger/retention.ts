import { type CounterKey, isPipelineCounter } from '../../../policies/claim.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { isCap, userOfSubject } from '../../../policies/limits/cap.ts';
import { longestDays, overEverywhereMs } from '../../../policies/limits/period.ts';
import type { JobRecord } from './ledger.ts';
import type { CounterReset, CounterWrite } from './store.ts';

/** A record without counters is kept as long as one that counts in a month. */
const SHORTEST_DAYS = 32;
const ASKING_DAYS = 90;
/** GitLab's longest job is a month: until it ends it may settle in a period that is over, or its pipeline start another. */
const LONGEST_JOB_DAYS = 35;
/** Covers clock differences, and records of older versions that expire some days too early. */
const MARGIN_DAYS = 10;
/** A minute, an hour or a day, with the day that clocks may move. */
const WINDOW_DAYS = 2;

/** The clocks of two programs differ by less, so no entry in a closing is dated after it. */
const SETTLING_MS = 3_600_000;

const DAY_SECONDS = 24 * 3_600;

/** Unix seconds: 90 days after its longest period can still be open, because open periods are recounted from records. Undefined: never. */
export function expiresAtSeconds(
  atMs: number,
  counted: readonly { readonly counter: CounterKey }[],
): number | undefined {
  let days = SHORTEST_DAYS;
  for (const { counter } of counted) {
    if (!isPipelineCounter(counter)) days = Math.max(days, longestDays(counter.period));
  }
  if (!Number.isFinite(days)) return undefined;
  return Math.ceil(atMs / 1000) + (days + ASKING_DAYS) * DAY_SECONDS;
}

/** Undefined: not while it is live, or never. The later of end and decision counts: a bypass counts in the period of its decision. */
export function recordExpiresAtSeconds({ endedAtMs, decidedAtMs, claims }: JobRecord): number | undefined {
  if (endedAtMs === undefined) return undefined;
  return expiresAtSeconds(
    Math.max(endedAtMs, decidedAtMs),
    claims.filter(({ counted }) => counted !== 0),
  );
}

/** Counters of minutes, hours and days: too many and too small to be closed one by one. */
export const isWindow = ({ period }: CounterKey): boolean => {
  const days = longestDays(period);
  return days > 0 && days <= WINDOW_DAYS;
};

/** Their keys name the user, so they expire with the user ids in records. */
export const isOfUser = ({ subject }: CounterKey): boolean => userOfSubject(subject) !== undefined;

/** Counters of users and of caps: there are as many as people and jobs make, so none is closed, and all go after their period. */
export const goesUnclosed = (key: CounterKey): boolean => isOfUser(key) || isCap(key.subject);

/** From when on a counter need not name the user any more, Unix ms; Infinity for limits that never reset. */
export const namelessFromMs = ({ period }: CounterKey): number =>
  period === 'now' ? Number.NEGATIVE_INFINITY : overEverywhereMs(period) + ASKING_DAYS * DAY_MS;

/** From when on a record need not name its user any more, Unix ms; Infinity while its job is live. */
export const recordNamelessFromMs = ({ endedAtMs, decidedAtMs }: JobRecord): number =>
  endedAtMs === undefined
    ? Number.POSITIVE_INFINITY
    : Math.max(endedAtMs, decidedAtMs) + ASKING_DAYS * DAY_MS;

/** When every job of the period has ended, Unix ms; Infinity: its counter is never closed. */
const closableFromMs = (key: CounterKey): number =>
  isWindow(key) || isPipelineCounter(key) || goesUnclosed(key)
    ? Number.POSITIVE_INFINITY
    : overEverywhereMs(key.period) + LONGEST_JOB_DAYS * DAY_MS;

export const isClosable = (key: CounterKey, nowMs: number): boolean => nowMs >= closableFromMs(key);

export const mayLackRecords = ({ period }: CounterKey, nowMs: number): boolean =>
  nowMs >= overEverywhereMs(period) + (ASKING_DAYS - MARGIN_DAYS) * DAY_MS;

export function expiring<Each extends CounterWrite | CounterReset>(write: Each, nowMs: number): Each {
  const expiresAtSeconds = counterExpiresAtSeconds(write.key, nowMs);
  if (expiresAtSeconds !== undefined) return { ...write, expiresAtSeconds };
  const fromMs = closableFromMs(write.key);
  if (!Number.isFinite(fromMs)) return write;
  return { ...write, closeAtMs: nowMs < fromMs ? fromMs : Math.ceil(nowMs) + SETTLING_MS };
}

function counterExpiresAtSeconds(key: CounterKey, nowMs: number): number | undefined {
  if (goesUnclosed(key) && !isPipelineCounter(key)) {
    const fromMs = Math.max(namelessFromMs(key), nowMs + ASKING_DAYS * DAY_MS);
    return Number.isFinite(fromMs) ? Math.ceil(fromMs / 1000) : undefined;
  }
  const days = daysAfterWrite(key);
  return days === undefined ? undefined : Math.ceil(nowMs / 1000) + days * DAY_SECONDS;
}

function daysAfterWrite(key: CounterKey): number | undefined {
  if (isPipelineCounter(key)) return LONGEST_JOB_DAYS;
  return isWindow(key) ? WINDOW_DAYS + ASKING_DAYS + LONGEST_JOB_DAYS : undefined;
}
