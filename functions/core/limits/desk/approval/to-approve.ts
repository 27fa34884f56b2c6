/**
 * Decides which changes need two people: any that raises the bound of a limit by more than a share. All ways
 * use it: edits, imports, grants, removed limits, weaker modes, Parameter Store, the command line and undo.
 */
import type { Limit } from '../../../../../policies/limits/limit.ts';
import type { ChangeRow } from '../../changes/change-row.ts';
import type { ApprovalSettings, LimitsDeskDeps } from '../contract.ts';
import { type Gain, type GainsInput, gainsOf, leastLately, limitPlaceText, reachInstead } from './gains.ts';

/** An increase by more than half needs two people. */
const APPROVAL_DEFAULT: ApprovalSettings = { abovePercent: 50 };

/** Returns the changes that need approval. @throws {LimitsError} the log does not answer */
export async function toApprove(
  rows: readonly ChangeRow[],
  between: GainsInput,
  { table, approval = APPROVAL_DEFAULT }: Pick<LimitsDeskDeps, 'table' | 'approval'>,
): Promise<readonly ChangeRow[]> {
  const gains = gainsOf(rows, between);
  const above = (gain: Gain, before: number): boolean => isAbove(gain, before, approval);
  const live = new Map(
    gains.flatMap((gain) =>
      gain.own === undefined || above(gain, gain.before) ? [] : [[limitPlaceText(gain), gain.own] as const],
    ),
  );
  const instead = (place: string): number => insteadOf(live.get(place), between);
  const least = await leastLately({ live, instead, nowMs: between.nowMs }, table);
  const two = gains.filter((gain) =>
    above(gain, Math.min(gain.before, least.get(limitPlaceText(gain)) ?? gain.before)),
  );
  const found = new Set(two.flatMap((gain) => gain.rows));
  return rows.filter((row) => found.has(row));
}

const insteadOf = (own: Limit | undefined, { from, directory }: GainsInput): number =>
  (own && reachInstead(own, own.subject, from, directory)) ?? Number.POSITIVE_INFINITY;

function isAbove({ approved, after }: Gain, before: number, { abovePercent }: ApprovalSettings): boolean {
  const was = before + approved;
  if (!Number.isFinite(was)) return false;
  if (!Number.isFinite(after)) return true;
  return after > was && BigInt(after) * 100n > BigInt(was) * BigInt(100 + abovePercent);
}
