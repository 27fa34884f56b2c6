/** Plans as they are kept, one item each. */
import { isRecord } from '../../../../policies/document/reading.ts';
import { DAY_MS } from '../../../../policies/limits/calendar.ts';
import { TIMEOUT_MS } from '../desk/desk-reads.ts';
import type { LimitTable } from '../limit-table.ts';
import { LimitsError } from '../limits-error.ts';
import type { LimitPlan } from './limit-plan.ts';

/** A company plans a year or two, and tries some ways. */
export const PLANS_MAX = 20;
/** With 150 characters each well below what an item holds. */
export const AMOUNTS_MAX = 2_000;
/** Those that were discarded are gone within days. */
const READ_MAX = 500;
/** A year is looked back on once it is over. */
const KEPT_MS = 400 * DAY_MS;

export interface StoredPlan {
  readonly rev: number;
  readonly plan: LimitPlan;
}

/** Newest first, without those that were discarded. @throws {LimitsError} */
export async function readPlans(table: LimitTable): Promise<readonly StoredPlan[]> {
  const items = await table.readPlans(READ_MAX, { timeoutMs: TIMEOUT_MS });
  return items
    .map(({ id, rev, bytes }) => ({ rev, plan: planOf(id, bytes) }))
    .filter(({ plan }) => plan.discarded === undefined);
}

/** @returns false: it was changed meanwhile. */
export const writePlan = ({ rev, plan }: StoredPlan, table: LimitTable): Promise<boolean> => {
  const goneMs = plan.discarded ? plan.changedAtMs + DAY_MS : Date.parse(plan.from) + KEPT_MS;
  return table.putPlan(
    {
      id: plan.id,
      rev,
      bytes: Buffer.from(JSON.stringify(plan)),
      expiresAtSeconds: Math.ceil(goneMs / 1_000),
    },
    { timeoutMs: TIMEOUT_MS },
  );
};

/** Later ones sort higher. */
export const planId = (nowMs: number, unique: string): string =>
  `p-${nowMs.toString(36).padStart(TIME_CHARACTERS, '0')}-${unique.toLowerCase()}`;

const TIME_CHARACTERS = 9;

function planOf(id: string, bytes: Uint8Array): LimitPlan {
  try {
    const plan: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    // Written by `writePlan` alone.
    if (isRecord(plan) && plan.id === id) return plan as unknown as LimitPlan;
  } catch {
    // Told below, without a value in it.
  }
  throw new LimitsError('limits_unreadable', `plan ${id}: is damaged`);
}
