import { isDeepStrictEqual } from 'node:util';
import type { Limit } from '../../../../policies/limits/limit.ts';
import type { LimitSet } from '../../../../policies/limits/limits.ts';

const DATES_MAX = 100;

export type WrittenTotal = ReturnType<typeof changesOf>[number];

/**
 * Returns sums of all limits per kind, period and date, before and after: now, and at each later change. It is a check sum over
 * the column, parents and children alike. Expired limits are left out, and so are defaults, because the number of their subjects
 * is unknown.
 */
export function totalChanges(before: LimitSet, after: LimitSet, nowMs: number): readonly WrittenTotal[] {
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

function changesOf(before: readonly Limit[], after: readonly Limit[], nowMs: number) {
  const all = [...after, ...before];
  const zones = new Map<number, string>();
  for (const { fromMs = nowMs, untilMs, zone } of all) {
    zones.set(Math.max(fromMs, nowMs), zone);
    if (untilMs !== undefined) zones.set(untilMs, zone);
  }
  const dates = [...zones].toSorted(([a], [b]) => a - b).slice(0, DATES_MAX);
  const [first] = all;
  let last = [totalAt([], nowMs), totalAt([], nowMs)];
  return dates.flatMap(([atMs, zone]) => {
    const [was, is] = [totalAt(before, atMs), totalAt(after, atMs)];
    // One year's limits end in the instant the next year's begin: the same sum is no news.
    if (first === undefined || isDeepStrictEqual([was, is], last)) return [];
    last = [was, is];
    const { kind, unit, per = null } = first;
    const isNow = atMs === nowMs;
    const since = isNow ? null : new Date(atMs).toISOString();
    return [{ kind, unit, per, since, zone: isNow ? null : zone, before: was, after: is }];
  });
}

function totalAt(limits: readonly Limit[], atMs: number) {
  const amounts = limits
    .filter(({ fromMs = atMs, untilMs = atMs + 1 }) => fromMs <= atMs && atMs < untilMs)
    .map(({ amount }) => amount);
  const sum = amounts.reduce((all, amount) => all + (amount === 'unlimited' ? 0n : BigInt(amount)), 0n);
  return {
    limits: amounts.length,
    unlimited: amounts.filter((amount) => amount === 'unlimited').length,
    /** Whole units, as text: sums may pass what a number holds. */
    amount: String(sum),
  };
}
