/** Limits of a subject, their counters and their modes. */
import { counterName } from '../../../policies/claim.ts';
import type { Directory, DirectoryGroup } from '../../../policies/directory.ts';
import { isCap } from '../../../policies/limits/cap.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import {
  counterOf,
  type LimitSet,
  limitPeriod,
  limitsOfGroup,
  limitsOn,
} from '../../../policies/limits/limits.ts';
import { type Period, type Validity, validAt } from '../../../policies/limits/period.ts';
import type { Mode } from '../../../policies/mode.ts';
import type { PlacedGroup } from '../../../policies/placement.ts';
import type { Policy } from '../../../policies/policy.ts';
import { compareModes, leastMode, rolloutModes } from '../../../policies/rollout.ts';
import { ASKED_BY, isSpent } from '../../../policies/unit.ts';
import type { NamedKey } from '../reading/counters-now.ts';

/** A subject's limit, own or default. */
export interface SubjectLimit {
  readonly limit: Limit;
  readonly byDefault: boolean;
}

/** A budget can run out: an amount of money or minutes per period. */
export const isBudget = ({ kind, per, amount }: Limit): boolean =>
  isSpent(kind) && per !== undefined && amount !== 'unlimited';

const ownLimit = (limit: Limit): SubjectLimit => ({ limit, byDefault: false });

/** @param subject - undefined is returned for others than groups, caps and unknown groups */
export const groupOfSubject = (subject: string, { groupById }: Directory): DirectoryGroup | undefined =>
  subject.startsWith('group/') && !isCap(subject) ? groupById.get(Number(subject.slice(6))) : undefined;

/** Limits in force on a group: own and default ones. */
export function limitsOfGroupNow(
  group: Pick<DirectoryGroup, 'id' | 'path' | 'personal'>,
  limits: LimitSet,
  nowMs: number,
): readonly SubjectLimit[] {
  const own = new Set(limitsOn(limits, `group/${group.id}`));
  return limitsOfGroup(limits, group, nowMs).map((limit) => ({ limit, byDefault: !own.has(limit) }));
}

interface LimitsAt {
  readonly limits: LimitSet;
  readonly directory: Directory;
  readonly nowMs: number;
}

/** Limits in force on a subject. */
export function limitsInForce(
  subject: string,
  { limits, directory, nowMs }: LimitsAt,
): readonly SubjectLimit[] {
  const group = groupOfSubject(subject, directory);
  if (group !== undefined) return limitsOfGroupNow(group, limits, nowMs);
  return validAt(limitsOn(limits, subject), nowMs).map(ownLimit);
}

/** Includes own limits that have not begun or are over. */
export function allSubjectLimits(
  subject: string,
  { limits, directory, nowMs }: LimitsAt,
): readonly SubjectLimit[] {
  const own = limitsOn(limits, subject).map(ownLimit);
  const group = groupOfSubject(subject, directory);
  if (group === undefined) return own;
  return [...own, ...limitsOfGroupNow(group, limits, nowMs).filter(({ byDefault }) => byDefault)];
}

/** A limit with its current counter. */
export interface CountedLimit extends SubjectLimit {
  readonly counter: NamedKey;
}

interface CountedLimits {
  readonly ofGroup: (group: DirectoryGroup) => readonly CountedLimit[];
  /** For other subjects. */
  readonly counted: (limit: SubjectLimit) => CountedLimit;
}

/**
 * Caches the limits of ten thousand groups with their counters. The cache is valid while limits and groups are the same,
 * no limit begins or ends, and no period ends. Keep one per process.
 */
export function countedLimitsNow(): (limits: LimitSet, directory: Directory, nowMs: number) => CountedLimits {
  let known:
    | {
        limits: LimitSet;
        directory: Directory;
        fromMs: number;
        span: { untilMs: number };
        all: CountedLimits;
      }
    | undefined;
  return (limits, directory, nowMs) => {
    const isSame = known?.limits === limits && known.directory === directory;
    if (known !== undefined && isSame && known.fromMs <= nowMs && nowMs < known.span.untilMs)
      return known.all;
    const span = { untilMs: nextChangeMs(limits, nowMs) };
    known = { limits, directory, fromMs: nowMs, span, all: countedLimits(limits, nowMs, span) };
    return known.all;
  };
}

function countedLimits(limits: LimitSet, nowMs: number, span: { untilMs: number }): CountedLimits {
  const groups = new Map<DirectoryGroup, readonly CountedLimit[]>();
  /** Thousands of limits share few kinds of periods and zones. */
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
      const known = groups.get(group) ?? limitsOfGroupNow(group, limits, nowMs).map(counted);
      groups.set(group, known);
      return known;
    },
  };
}

/** Returns when the next limit begins or ends, Unix ms. */
function nextChangeMs({ bySubject, personalDefault, groupDefaults }: LimitSet, nowMs: number): number {
  const byDefault = groupDefaults?.all.map(({ limit }) => limit) ?? [];
  let nextMs = Number.POSITIVE_INFINITY;
  const add = ({ fromMs = 0, untilMs = 0 }: Validity): void => {
    for (const atMs of [fromMs, untilMs]) if (nowMs < atMs) nextMs = Math.min(nextMs, atMs);
  };
  for (const own of [...bySubject.values(), personalDefault, byDefault]) own.forEach(add);
  return nextMs;
}

/**
 * Returns a function for the mode of a limit for jobs of its subject: at most that of the policy's rule of its kind, and of
 * the rollout of its project or closest group. Without such a rule the limit is not checked.
 */
export function limitModes(
  { rules }: Policy,
  limits: LimitSet,
): (limit: Limit, ancestors: readonly PlacedGroup[]) => Mode {
  const known = new Map<string, Mode>();
  return ({ kind, mode, subject }, ancestors) => {
    const project = subject.startsWith('project/') ? { projectId: Number(subject.slice(8)) } : {};
    const rollout = rolloutModes({ ancestors, ...project }, limits);
    const name = `${kind} ${mode} ${rollout.cost} ${rollout.capacity}`;
    const found =
      known.get(name) ??
      leastMode(
        mode,
        rules
          .filter((rule) => rule.kind === ASKED_BY[kind])
          .map((rule) => leastMode(rule.mode, rollout[rule.class]))
          .reduce((a, b) => (compareModes(a, b) >= 0 ? a : b), 'off'),
      );
    known.set(name, found);
    return found;
  };
}

/** Selects the limits that reject jobs; without any, those in mode warn or shadow; without any, those that are off. */
export function leading<Each>(all: readonly Each[], modeOf: (each: Each) => Mode): readonly Each[] {
  const ranks = all.map((each) => (modeOf(each) === 'shadow' ? 'warn' : modeOf(each)));
  const strongest = (['enforce', 'warn', 'off'] as const).find((mode) => ranks.includes(mode));
  return all.filter((_, index) => ranks[index] === strongest);
}
