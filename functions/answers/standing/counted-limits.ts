/** What groups are asked for now, with the counters it is counted in: ten thousand of them on a page, and the same on the next. */
import { counterName } from '../../../policies/claim.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import { counterOf, type LimitSet } from '../../../policies/limits/limits.ts';
import type { Validity } from '../../../policies/limits/period.ts';
import type { Directory, DirectoryGroup } from '../../../policies/place/directory.ts';
import type { NamedKey } from '../reading/counters-now.ts';
import { type SubjectLimit, subjectLimitsBelow } from './group-limits.ts';
import { type PeriodPair, periodPairs } from './period-pair.ts';

/** A limit, where it counts now, and where it counted before. */
export interface CountedLimit extends SubjectLimit {
  readonly counter: NamedKey;
  /** Absent: what is counted at once, or never starts anew, has none before it. */
  readonly before?: NamedKey;
  readonly periods: PeriodPair;
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
  const periodsOf = periodPairs(nowMs);
  const counted = (each: SubjectLimit): CountedLimit => {
    const { limit } = each;
    const periods = periodsOf(limit);
    const { current, previous } = periods;
    if (current !== undefined) span.untilMs = Math.min(span.untilMs, current.endMs);
    return {
      ...{ limit, byDefault: each.byDefault, periods },
      counter: named(
        current === undefined ? counterOf(limit, nowMs) : { ...keyOf(limit), period: current.key },
      ),
      ...(previous !== undefined && { before: named({ ...keyOf(limit), period: previous.key }) }),
    };
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

const keyOf = ({ subject, id }: Limit) => ({ subject, limit: id });

const named = (key: Omit<NamedKey, 'name'>): NamedKey => ({ ...key, name: counterName(key) });

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
