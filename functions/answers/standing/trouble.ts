/** How close a limit is to failing jobs, judged by counters alone: the days of ten thousand groups are too many for one page. */
import { PROFILE_DAYS } from '../../../policies/forecast/daily-usage.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { limitAt } from '../../../policies/limits/limits.ts';
import type { CountersByName } from '../reading/counters-now.ts';
import type { CountedLimit } from './counted-limits.ts';
import { LAST_TIER, tier } from './leading.ts';
import type { LimitRow } from './model.ts';
import { canRunOut } from './outlook.ts';

const HISTORY_MS = PROFILE_DAYS * DAY_MS;

/** What says how far a limit is: its counters of this period and of the one before. */
export interface PaceBasis {
  readonly now: CountersByName;
  readonly before: CountersByName;
  readonly nowMs: number;
}

/** A place in the order of trouble: `tier`, then the instant, then the share. */
export interface TroubleLevel {
  readonly tier: number;
  /** Unix ms; 0: it is used up, 1: full for now. Infinity: it lasts. */
  readonly atMs: number;
  /** (settled + held) / amount. */
  readonly share: number;
}

export const NO_TROUBLE: TroubleLevel = { tier: LAST_TIER, atMs: Number.POSITIVE_INFINITY, share: -1 };

/** @param rejects - jobs fail for it; else it only watches. */
export function troubleOf(of: CountedLimit, rejects: boolean, basis: PaceBasis): TroubleLevel {
  const { limit: written, periods, counter } = of;
  const { now, nowMs } = basis;
  const { current } = periods;
  const { amount } = limitAt(written, nowMs);
  if (amount === 'unlimited') return NO_TROUBLE;
  const committed = now.get(counter.name)?.committed ?? 0;
  const share = amount === 0 ? Number.POSITIVE_INFINITY : committed / amount;
  if (current === undefined || !canRunOut(written)) {
    // What is free again within the hour is full for now: it follows what is used up for good.
    const isFull = committed >= amount;
    return { tier: tier({ rejects, runsOut: isFull }), atMs: isFull ? 1 : Number.POSITIVE_INFINITY, share };
  }
  if (committed >= amount) return { tier: tier({ rejects, runsOut: true }), atMs: 0, share };
  const pace = paceOf(of, committed, basis);
  const atMs = pace <= 0 ? Number.POSITIVE_INFINITY : nowMs + (amount - committed) / pace;
  return { tier: tier({ rejects, runsOut: atMs < current.endMs }), atMs, share };
}

/** Per ms: the mean of the last four weeks, with what is missing of them taken from the period before. */
function paceOf(of: CountedLimit, committed: number, { before, nowMs }: PaceBasis): number {
  const { current, previous } = of.periods;
  if (current === undefined) return 0;
  const elapsedMs = Number.isFinite(current.startMs) ? Math.max(1, nowMs - current.startMs) : HISTORY_MS;
  const last = of.before && before.get(of.before.name);
  const missingMs = Math.max(0, HISTORY_MS - elapsedMs);
  // A limit without a counter before it is new: its first hours say what there is to say.
  if (previous === undefined || last === undefined || last.rev === 0 || missingMs === 0)
    return committed / Math.max(DAY_MS, elapsedMs);
  const lengthMs = previous.endMs - previous.startMs;
  return (
    (committed + last.committed * Math.min(1, missingMs / lengthMs)) /
    (elapsedMs + Math.min(missingMs, lengthMs))
  );
}

/** The same of a row, by its own forecast, which knows the days of the week. */
export function troubleOfRow(row: LimitRow): TroubleLevel {
  const { amount, settled, held, left = Number.POSITIVE_INFINITY, forecast } = row;
  if (amount === 'unlimited' || row.each !== undefined) return NO_TROUBLE;
  const rejects = (row.rolledOutAs ?? row.mode) === 'enforce';
  const share = amount === 0 ? Number.POSITIVE_INFINITY : (settled + held) / amount;
  // What comes and goes follows what is used up for good.
  const goneMs = canRunOut(row) ? 0 : 1;
  const atMs = left <= 0 ? goneMs : (forecast?.atMs ?? Number.POSITIVE_INFINITY);
  return { tier: tier({ rejects, runsOut: Number.isFinite(atMs) }), atMs, share };
}

export const isUsedUp = ({ share }: TroubleLevel): boolean => share >= 1;

/** Used up, or gone before its period ends. */
export const isInTrouble = (level: TroubleLevel): boolean =>
  isUsedUp(level) || level.tier <= tier({ rejects: false, runsOut: true });

/** Two limits that are used up, or that nobody uses, are ordered by share, the larger first. */
export const compareTroubles = (a: TroubleLevel, b: TroubleLevel): number => {
  if (a.tier !== b.tier) return a.tier - b.tier;
  return a.atMs === b.atMs ? descending(a.share, b.share) : a.atMs < b.atMs ? -1 : 1;
};

const descending = (a: number, b: number): number => (a === b ? 0 : a > b ? -1 : 1);
