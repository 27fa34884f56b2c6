import { counterName } from '../../../policies/claim.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import {
  counterOf,
  type LimitSet,
  limitAt,
  limitPeriod,
  limitsOfGroup,
  limitsOn,
} from '../../../policies/limits/limits.ts';
import { type Period, validAt } from '../../../policies/limits/period.ts';
import { memoizeIn } from '../../../policies/match/remember.ts';
import type { Mode } from '../../../policies/mode.ts';
import type { PlacedGroup } from '../../../policies/placement.ts';
import type { Policy } from '../../../policies/policy.ts';
import { compareModes, leastMode, rolloutModes } from '../../../policies/rollout.ts';
import { ASKED_BY, isSpent } from '../../../policies/unit.ts';
import type { CallerView } from '../reading/context.ts';
import type { CountersByName, NamedKey } from '../reading/counters-now.ts';

/** Kinds of periods and of modes: far fewer than limits. */
const CACHED_MAX = 10_000;

export interface SubjectLimit {
  readonly limit: Limit;
  readonly byDefault: boolean;
}

/** A budget can run out: an amount of money or minutes per period. */
export const isBudget = ({ kind, per, amount }: Limit): boolean =>
  isSpent(kind) && per !== undefined && amount !== 'unlimited';

const ownLimit = (limit: Limit): SubjectLimit => ({ limit, byDefault: false });

type LimitsAt = Pick<CallerView, 'limits' | 'directory' | 'nowMs'>;

export function limitsInForce(
  subject: string,
  { limits, directory, nowMs }: LimitsAt,
): readonly SubjectLimit[] {
  const [, groupId] = /^group\/(\d+)$/.exec(subject) ?? [];
  const group = directory.groupById.get(Number(groupId ?? 0));
  if (group === undefined) return validAt(limitsOn(limits, subject), nowMs).map(ownLimit);
  const own = new Set(limitsOn(limits, subject));
  return limitsOfGroup(limits, group, nowMs).map((limit) => ({ limit, byDefault: !own.has(limit) }));
}

/** Includes own limits that have not begun or are over. */
export const allSubjectLimits = (subject: string, at: LimitsAt): readonly SubjectLimit[] => [
  ...limitsOn(at.limits, subject).map(ownLimit),
  ...limitsInForce(subject, at).filter(({ byDefault }) => byDefault),
];

export interface CountedLimit extends SubjectLimit {
  readonly counter: NamedKey;
}

/** Returns a function for the limits in force on a subject. Ten thousand subjects share few kinds of periods and zones. */
export function countedLimits(at: LimitsAt): (subject: string) => readonly CountedLimit[] {
  const { nowMs } = at;
  const periods = new Map<string, Period | undefined>();
  return (subject) =>
    limitsInForce(subject, at).map(({ limit, byDefault }) => {
      const { subject: on, id, per, zone, fiscalStart = '' } = limit;
      const kind = `${per} ${zone} ${fiscalStart}`;
      const period = memoizeIn(periods, kind, CACHED_MAX, () => limitPeriod(limit, nowMs));
      const key =
        period === undefined ? counterOf(limit, nowMs) : { subject: on, limit: id, period: period.key };
      return { limit, byDefault, counter: { ...key, name: counterName(key) } };
    });
}

/** (settled + held) / amount; -1: unlimited. */
export function shareOf({ limit, counter }: CountedLimit, counters: CountersByName, nowMs: number): number {
  const { amount } = limitAt(limit, nowMs);
  if (amount === 'unlimited') return -1;
  return amount === 0 ? 1 : (counters.get(counter.name)?.committed ?? 0) / amount;
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
    return memoizeIn(known, `${kind} ${mode} ${rollout.cost} ${rollout.capacity}`, CACHED_MAX, () => {
      const strongest = rules
        .filter((rule) => rule.kind === ASKED_BY[kind])
        .map((rule) => leastMode(rule.mode, rollout[rule.class]))
        .reduce((a, b) => (compareModes(a, b) >= 0 ? a : b), 'off');
      return leastMode(mode, strongest);
    });
  };
}

/** Selects the limits that reject jobs; without any, those in mode warn or shadow; without any, those that are off. */
export function leading<Each>(all: readonly Each[], modeOf: (each: Each) => Mode): readonly Each[] {
  const ranks = all.map((each) => (modeOf(each) === 'shadow' ? 'warn' : modeOf(each)));
  const strongest = (['enforce', 'warn', 'off'] as const).find((mode) => ranks.includes(mode));
  return all.filter((_, index) => ranks[index] === strongest);
}
