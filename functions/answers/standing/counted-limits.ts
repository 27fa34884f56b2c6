/** Current limits of groups with their counters; caches ten thousand across pages. */
import { counterName } from '../../../policies/claim.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import { counterOf, type LimitSet, limitPeriod } from '../../../policies/limits/limits.ts';
import type { Period, Validity } from '../../../policies/limits/period.ts';
import type { Directory, DirectoryGroup } from '../../../policies/place/directory.ts';
import type { NamedKey } from '../reading/counters-now.ts';
import { type SubjectLimit, subjectLimitsBelow } from './group-limits.ts';

/** A limit and where it counts now. */
export interface CountedLimit extends SubjectLimit {
  readonly counter: NamedKey;
}

export interface CountedLimits {
  readonly ofGroup: (group: DirectoryGroup) => readonly CountedLimit[];
  /** For what is no group. */
  readonly counted: (limit: SubjectLimit) => CountedLimit;
}

/**
 * Kept while limits and groups are the same ones, no limit begins or ends, and no period that was met is over. Keep one per
 * process.
 */
export function countedLimitsNow(): (limits: LimitSet, directory: Directory, nowMs: number) => CountedLimits {
  let known:
    | {
        readonly limits: LimitSet;
        readonly directory: Directory;
        readonly span: { readonly fromMs: number; untilMs: number };
        readonly all: CountedLimits;
      }
    | undefined;
  return (limits, directory, nowMs) => {
    const isSame = known?.limits === limits && known.directory === directory;
    if (known !== undefined && isSame && known.span.fromMs <= nowMs && nowMs < known.span.untilMs)
      return known.all;
    const span = { fromMs: nowMs, untilMs: nextChangeMs(limits, nowMs) };
    known = { limits, directory, span, all: countedLimits(limits, nowMs, span) };
    return known.all;
  };
}

function countedLimits(limits: LimitSet, nowMs: number, span: { untilMs: number }): CountedLimits {
  const groups = new Map<DirectoryGroup, readonly CountedLimit[]>();
  /** The calendar is asked once for each kind and zone: there are thousands of limits, and few of these. */
  const periods = new Map<string, Period | undefined>();
  const periodOf = (limit: Limit): Period | undefined => {
    const name = `${limit.per} ${limit.zone} ${limit.fiscalStart ?? ''}`;
    if (!periods.has(name)) periods.set(name, limitPeriod(limit, nowMs));
    return periods.get(name);
  };
  const counted = ({ limit, byDefault }: SubjectLimit): CountedLimit => {
    const period = periodOf(limit);
    if (period !== undefined) span.untilMs = Math.min(span.untilMs, period.endMs);
    const { subject, id } = limit;
    const key = period === undefined ? counterOf(limit, nowMs) : { subject, limit: id, period: period.key };
    return { limit, byDefault, counter: { ...key, name: counterName(key) } };
  };
  return {
    counted,
    ofGroup: (group) => {
      const known = groups.get(group) ?? subjectLimitsBelow(group, limits, nowMs).map(counted);
      groups.set(group, known);
      return known;
    },
  };
}

/** When the next limit begins or ends, Unix ms. */
function nextChangeMs(limits: LimitSet, nowMs: number): number {
  let nextMs = Number.POSITIVE_INFINITY;
  const look = ({ fromMs, untilMs }: Validity): void => {
    for (const atMs of [fromMs, untilMs])
      if (atMs !== undefined && nowMs < atMs) nextMs = Math.min(nextMs, atMs);
  };
  for (const own of limits.bySubject.values()) own.forEach(look);
  limits.personalDefault.forEach(look);
  for (const { limit } of limits.groupDefaults?.all ?? []) look(limit);
  return nextMs;
}
