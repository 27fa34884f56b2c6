/** Judges how close a limit is to failing jobs. Counts, filters, order and colours of every list use these functions. */
import { HOUR_MS } from '../../../policies/limits/calendar.ts';
import type { ReadContext } from '../reading/context.ts';
import type { UsageBySubject } from '../reading/usage-days.ts';
import type { LimitRow } from './model.ts';
import { canRunOut } from './outlook.ts';

/** Ordered by `tier`, then the instant, then the share. */
export interface RiskLevel {
  /** 0: fails jobs, now or soon; 1: would, were it enforced; 2: lasts; 3: lasts and is not enforced; 4: no budget. */
  readonly tier: number;
  /** Unix ms of its run-out; -1: it refuses jobs now, 0: used up, 1: full for now. Infinity: it lasts. */
  readonly atMs: number;
  readonly share: number;
}

const REFUSES_MS = -1;
const USED_UP_MS = 0;
/** Limits of concurrent jobs come after budgets that are used up. */
const FULL_MS = 1;
const LASTS_MS = Number.POSITIVE_INFINITY;

const NO_RISK: RiskLevel = { tier: 4, atMs: LASTS_MS, share: -1 };

export function riskOf(row: LimitRow | undefined): RiskLevel {
  if (row?.left === undefined || row.amount === 'unlimited') return NO_RISK;
  const { amount, left } = row;
  const rejects = (row.rolledOutAs ?? row.mode) === 'enforce';
  const runOutMs = left > 0 ? (row.forecast?.atMs ?? LASTS_MS) : canRunOut(row) ? USED_UP_MS : FULL_MS;
  const atMs = row.refusing === undefined ? runOutMs : REFUSES_MS;
  return {
    tier: (atMs === LASTS_MS ? 2 : 0) + (rejects ? 0 : 1),
    atMs,
    share: amount === 0 ? Number.POSITIVE_INFINITY : (amount - left) / amount,
  };
}

export const isRefusing = ({ atMs }: RiskLevel): boolean => atMs === REFUSES_MS;

export const isUsedUp = ({ share }: RiskLevel): boolean => share >= 1;

export const isAtRisk = ({ atMs }: RiskLevel): boolean => atMs !== LASTS_MS;

/** Highest risk first; equal instants by share, the larger first. */
export const compareRisks = (a: RiskLevel, b: RiskLevel): number =>
  // Two infinite values differ by NaN, which falls through as 0 does.
  a.tier - b.tier || a.atMs - b.atMs || b.share - a.share || 0;

/** Keyed by `group/101 money-month`. */
export type Refusals = ReadonlyMap<string, NonNullable<LimitRow['refusing']>>;

/** A budget without a refusal for this long is taken as not refusing. */
const STREAK_GAP_MS = HOUR_MS;
/** Each has a list of fifty jobs. */
const LISTS_MAX = 100;
/** Ten requests of a hundred keys. */
const RECORDS_MAX = 1_000;

/**
 * Finds the budgets that refuse jobs now: reads the latest rejections of subjects with rejections today or yesterday.
 * The list of the whole GitLab is always read, because runner classes, runners and users have none of their own.
 */
export async function refusalsNow(
  usage: UsageBySubject,
  nowMs: number,
  reading: Pick<ReadContext, 'usage' | 'ledger'>,
): Promise<Refusals> {
  const rejecting = [...usage]
    .map(([subject, days]) => ({
      subject,
      recent: days.slice(-2).reduce((sum, { rejected }) => sum + rejected, 0),
    }))
    .filter(({ subject, recent }) => recent > 0 && /^(group|project)\//.test(subject))
    .sort((a, b) => b.recent - a.recent)
    .slice(0, LISTS_MAX);
  const lists = await reading.usage.readRejections(['instance', ...rejecting.map(({ subject }) => subject)]);
  const sinceMs = nowMs - 24 * STREAK_GAP_MS;
  const recent = lists.flatMap(({ jobs }) => jobs).filter(({ atMs }) => atMs > sinceMs);
  const ids = [...new Set(recent.sort((a, b) => b.atMs - a.atMs).map(({ jobId }) => jobId))];
  if (ids.length === 0) return new Map();
  const refusing = new Map<string, NonNullable<LimitRow['refusing']>>();
  // The latest first: a streak grows back in time until the first gap.
  for (const record of await reading.ledger.readRecords(ids.slice(0, RECORDS_MAX))) {
    if (record?.state !== 'REJECTED') continue;
    const { decidedAtMs, violations } = record;
    const limits = violations.flatMap(({ reason }) =>
      'limit' in reason ? [`${reason.subject} ${reason.limit}`] : [],
    );
    for (const limit of new Set(limits)) {
      const streak = refusing.get(limit);
      if ((streak?.sinceMs ?? nowMs) - decidedAtMs > STREAK_GAP_MS) continue;
      refusing.set(limit, {
        sinceMs: Math.min(decidedAtMs, streak?.sinceMs ?? decidedAtMs),
        lastMs: streak?.lastMs ?? decidedAtMs,
        jobs: (streak?.jobs ?? 0) + 1,
      });
    }
  }
  return refusing;
}
