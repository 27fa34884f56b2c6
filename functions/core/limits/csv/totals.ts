import { isDeepStrictEqual } from 'node:util';
import type { Limit } from '../../../../policies/limits/limit.ts';
import type { LimitSet } from '../../../../policies/limits/limits.ts';
import type { PeriodKind } from '../../../../policies/limits/period.ts';
import type { LimitKind, Unit } from '../../../../policies/unit.ts';

/**
 * The sum of all limits of a kind and period in force at a date: a check sum over the column, parents and
 * children alike.
 */
export interface TotalChange {
  readonly kind: LimitKind;
  readonly unit: Unit;
  /** Absent for jobs in flight. */
  readonly per?: PeriodKind;
  /** A date (Unix ms) from which on other limits are in force, in the zone of one of them. Absent: now. */
  readonly since?: { readonly atMs: number; readonly zone: string };
  readonly before: Total;
  readonly after: Total;
}

interface Total {
  readonly limits: number;
  /** Part of `limits`: those without an amount. */
  readonly unlimited: number;
  /** Whole units; sums may pass what a number holds. */
  readonly amount: bigint;
}

/** Per kind and period; no plan of ours looks further. */
const DATES_MAX = 100;

/**
 * Returns sums per kind, period and date, before and after: now, and at each later change. Expired limits
 * are left out, and so are defaults, because the number of their subjects is unknown.
 *
 * @param nowMs - Unix ms
 */
export function totalChanges(before: LimitSet, after: LimitSet, nowMs: number): readonly TotalChange[] {
  const [was, is] = [before, after].map(({ bySubject }) => {
    const current = [...bySubject.values()].flat().filter(({ untilMs = nowMs + 1 }) => untilMs > nowMs);
    return Map.groupBy(current, ({ kind, per }) => `${kind} ${per ?? ''}`);
  });
  const names = [...new Set([...(is?.keys() ?? []), ...(was?.keys() ?? [])])];
  const most = ({ length }: readonly Limit[] = []): number => length;
  return names
    .toSorted((a, b) => most(is?.get(b)) - most(is?.get(a)) || most(was?.get(b)) - most(was?.get(a)))
    .flatMap((name) => changesOf(was?.get(name) ?? [], is?.get(name) ?? [], nowMs));
}

function changesOf(before: readonly Limit[], after: readonly Limit[], nowMs: number): readonly TotalChange[] {
  const all = [...after, ...before];
  const zones = new Map<number, string>();
  for (const { fromMs = nowMs, untilMs, zone } of all) {
    zones.set(Math.max(fromMs, nowMs), zone);
    if (untilMs !== undefined) zones.set(untilMs, zone);
  }
  const changes: TotalChange[] = [];
  let last = [totalAt([], nowMs), totalAt([], nowMs)] as const;
  for (const [atMs, zone] of [...zones].toSorted(([a], [b]) => a - b).slice(0, DATES_MAX)) {
    const sums = [totalAt(before, atMs), totalAt(after, atMs)] as const;
    // One year's limits end in the instant the next year's begin: the same sum is no news.
    if (all[0] === undefined || isDeepStrictEqual(sums, last)) continue;
    last = sums;
    const { kind, unit, per } = all[0];
    changes.push({
      ...{ kind, unit, ...(per !== undefined && { per }) },
      ...(atMs !== nowMs && { since: { atMs, zone } }),
      ...{ before: sums[0], after: sums[1] },
    });
  }
  return changes;
}

function totalAt(limits: readonly Limit[], atMs: number): Total {
  const amounts = limits
    .filter(({ fromMs = atMs, untilMs = atMs + 1 }) => fromMs <= atMs && atMs < untilMs)
    .map(({ amount }) => amount);
  return {
    limits: amounts.length,
    unlimited: amounts.filter((amount) => amount === 'unlimited').length,
    amount: amounts.reduce((sum, amount) => sum + (amount === 'unlimited' ? 0n : BigInt(amount)), 0n),
  };
}

export type WrittenTotal = ReturnType<typeof writtenTotals>[number];

/** As the API and the command line write them: sums may be more than a number holds, so they are texts. */
export const writtenTotals = (totals: readonly TotalChange[]) =>
  totals.map(({ per, since, before, after, ...total }) => ({
    ...total,
    per: per ?? null,
    /** ISO 8601; null: now. */
    since: since === undefined ? null : new Date(since.atMs).toISOString(),
    /** IANA zone of a limit that begins or ends then; null: now. */
    zone: since?.zone ?? null,
    before: { ...before, amount: String(before.amount) },
    after: { ...after, amount: String(after.amount) },
  }));
