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
  /** Absent: now. */
  readonly since?: TotalDate;
  readonly before: Total;
  readonly after: Total;
}

/** A date from which on other limits are in force. */
interface TotalDate {
  /** Unix ms. */
  readonly atMs: number;
  /** IANA zone of a limit that begins or ends there. */
  readonly zone: string;
}

interface Total {
  readonly limits: number;
  /** Part of `limits`: those without an amount. */
  readonly unlimited: number;
  /** Whole units; sums may pass what a number holds. */
  readonly amount: bigint;
}

const NOTHING: Total = { limits: 0, unlimited: 0, amount: 0n };
/** Per kind and period; no plan of ours looks further. */
const DATES_MAX = 100;

/** Changes at each date, of one kind and period. */
interface Course {
  readonly what: Pick<TotalChange, 'kind' | 'unit' | 'per'>;
  readonly before: Map<number, Total>;
  readonly after: Map<number, Total>;
  readonly zones: Map<number, string>;
}

/**
 * Returns sums per kind, period and date, before and after: now, and at each later change. Expired limits
 * are left out, and so are defaults, because the number of their subjects is unknown.
 *
 * @param nowMs - Unix ms
 */
export function totalChanges(before: LimitSet, after: LimitSet, nowMs: number): readonly TotalChange[] {
  const courses = new Map<string, Course>();
  for (const [which, { bySubject }] of [
    ['before', before],
    ['after', after],
  ] as const)
    for (const limits of bySubject.values()) for (const limit of limits) note(courses, which, limit, nowMs);
  return [...courses.values()]
    .map((course) => changesOf(course, nowMs))
    .toSorted((a, b) => mostOf(b, 'after') - mostOf(a, 'after') || mostOf(b, 'before') - mostOf(a, 'before'))
    .flat();
}

const mostOf = (changes: readonly TotalChange[], which: 'before' | 'after'): number =>
  Math.max(...changes.map((change) => change[which].limits));

function note(courses: Map<string, Course>, which: 'before' | 'after', limit: Limit, nowMs: number): void {
  const { kind, unit, per, amount, zone, fromMs = nowMs, untilMs } = limit;
  if (untilMs !== undefined && untilMs <= nowMs) return;
  const name = `${kind} ${per ?? ''}`;
  const course = courses.get(name) ?? {
    what: { kind, unit, ...(per !== undefined && { per }) },
    before: new Map(),
    after: new Map(),
    zones: new Map(),
  };
  courses.set(name, course);
  const unlimited = amount === 'unlimited';
  const one: Total = { limits: 1, unlimited: unlimited ? 1 : 0, amount: unlimited ? 0n : BigInt(amount) };
  const at = (atMs: number, change: Total): void => {
    course[which].set(atMs, plus(course[which].get(atMs) ?? NOTHING, change));
    course.zones.set(atMs, zone);
  };
  at(Math.max(fromMs, nowMs), one);
  if (untilMs !== undefined) at(untilMs, minus(one));
}

function changesOf({ what, before, after, zones }: Course, nowMs: number): readonly TotalChange[] {
  const dates = [...zones].toSorted(([a], [b]) => a - b);
  const changes: TotalChange[] = [];
  let [was, is] = [NOTHING, NOTHING];
  for (const [atMs, zone] of dates) {
    const [comes, goes] = [before.get(atMs) ?? NOTHING, after.get(atMs) ?? NOTHING];
    // One year's limits end in the instant the next year's begin: the same sum is no news.
    const same = isNothing(comes) && isNothing(goes);
    [was, is] = [plus(was, comes), plus(is, goes)];
    if (same || changes.length === DATES_MAX) continue;
    const since = atMs === nowMs ? undefined : { atMs, zone };
    changes.push({ ...what, ...(since !== undefined && { since }), before: was, after: is });
  }
  return changes;
}

const plus = (a: Total, b: Total): Total => ({
  limits: a.limits + b.limits,
  unlimited: a.unlimited + b.unlimited,
  amount: a.amount + b.amount,
});

const minus = ({ limits, unlimited, amount }: Total): Total => ({
  limits: -limits,
  unlimited: -unlimited,
  amount: -amount,
});

const isNothing = ({ limits, unlimited, amount }: Total): boolean =>
  limits === 0 && unlimited === 0 && amount === 0n;

/** As the API and the command line write one. */
export interface WrittenTotal extends Omit<TotalChange, 'per' | 'since' | 'before' | 'after'> {
  readonly per: PeriodKind | null;
  /** ISO 8601; null: now. */
  readonly since: string | null;
  /** IANA zone of a limit that begins or ends then; null: now. */
  readonly zone: string | null;
  readonly before: WrittenSum;
  readonly after: WrittenSum;
}

interface WrittenSum extends Omit<Total, 'amount'> {
  readonly amount: string;
}

/** Sums may be more than a number holds, so they are texts. */
export const writtenTotals = (totals: readonly TotalChange[]): readonly WrittenTotal[] =>
  totals.map(({ kind, unit, per, since, before, after }) => ({
    kind,
    unit,
    per: per ?? null,
    since: since === undefined ? null : new Date(since.atMs).toISOString(),
    zone: since?.zone ?? null,
    before: { ...before, amount: String(before.amount) },
    after: { ...after, amount: String(after.amount) },
  }));
