/** Judges how close a limit is to failing jobs. Count, filter, order and colour of every list use this one function. */
import type { LimitRow } from './model.ts';
import { canRunOut } from './outlook.ts';

/** A place in the order of risk: `tier`, then the instant, then the share. */
export interface RiskLevel {
  /** 0: jobs fail for it, or will; 1: would, were it enforced; 2: it lasts; 3: it lasts and only watches; 4: no budget. */
  readonly tier: number;
  /** Unix ms of its run-out; -1: it refuses jobs now, 0: it is used up, 1: full for now. Infinity: it lasts. */
  readonly atMs: number;
  /** (settled + held) / amount. */
  readonly share: number;
}

const REFUSES_MS = -1;
const USED_UP_MS = 0;
/** Limits on jobs that run come after budgets that are used up. */
const FULL_MS = 1;

export const NO_RISK: RiskLevel = { tier: 4, atMs: Number.POSITIVE_INFINITY, share: -1 };

export function riskOf(row: LimitRow | undefined): RiskLevel {
  if (row?.left === undefined || row.amount === 'unlimited') return NO_RISK;
  const { amount, left } = row;
  const rejects = (row.rolledOutAs ?? row.mode) === 'enforce';
  const share = amount === 0 ? Number.POSITIVE_INFINITY : (amount - left) / amount;
  const atMs = row.refusing !== undefined ? REFUSES_MS : runOutMs(row, left);
  const lasts = atMs === Number.POSITIVE_INFINITY;
  return { tier: lasts ? (rejects ? 2 : 3) : rejects ? 0 : 1, atMs, share };
}

function runOutMs(row: LimitRow, left: number): number {
  if (left <= 0) return canRunOut(row) ? USED_UP_MS : FULL_MS;
  return row.forecast?.atMs ?? Number.POSITIVE_INFINITY;
}

export const isRefusing = ({ atMs }: RiskLevel): boolean => atMs === REFUSES_MS;

export const isUsedUp = ({ share }: RiskLevel): boolean => share >= 1;

/** Refuses jobs, is used up, or gone before its period ends. */
export const isAtRisk = ({ atMs }: RiskLevel): boolean => atMs !== Number.POSITIVE_INFINITY;

/** Two limits that are used up, or that last, are ordered by share, the larger first. */
export const compareRisks = (a: RiskLevel, b: RiskLevel): number => {
  if (a.tier !== b.tier) return a.tier - b.tier;
  return a.atMs === b.atMs ? descending(a.share, b.share) : a.atMs < b.atMs ? -1 : 1;
};

const descending = (a: number, b: number): number => (a === b ? 0 : a > b ? -1 : 1);
