import type { CounterKey } from '../claim.ts';
import type { Mode, RuleClass } from '../mode.ts';
import type { BreakGlass } from './break-glass.ts';
import type { Freeze } from './freeze.ts';
import type { GroupDefaults } from './group-defaults.ts';
import type { Limit } from './limit.ts';
import { type Period, periodAt } from './period.ts';

/** How far rules of a class may go in a group or project and below, while they are being rolled out. */
export interface Rollout extends Readonly<Partial<Record<RolloutClass, Mode>>> {
  /** When each class came to its mode, Unix ms; absent: a file said so, and nobody wrote it down. */
  readonly sinceMs?: Readonly<Partial<Record<RolloutClass, number>>>;
  /** When the owner last got the shadow report, Unix ms; absent: never. */
  readonly reportedMs?: number;
}

/** Not `security`: its modes live in the policy document alone. */
export type RolloutClass = Exclude<RuleClass, 'security'>;

/** All limits of a deployment at one moment, indexed by subject so that evaluation never scans them. */
export interface LimitSet {
  readonly version: string;
  /** Keyed by `subjectKey`, in document order. */
  readonly bySubject: ReadonlyMap<string, readonly Limit[]>;
  /** Keyed by `subjectKey`: the instance, groups and projects. */
  readonly rollouts: ReadonlyMap<string, Rollout>;
  /** What a personal namespace has of each kind it has no limit of its own for; `subject` is empty here. */
  readonly personalDefault: readonly Limit[];
  /** Absent: none. */
  readonly groupDefaults?: GroupDefaults;
  /** Keyed by `subjectKey`. Absent: none. */
  readonly freezes?: ReadonlyMap<string, readonly Freeze[]>;
  /** In document order. Absent: none. */
  readonly breakGlasses?: readonly BreakGlass[];
}

/** The period a limit counts in now; undefined for what is counted at once. */
export const limitPeriod = ({ per, zone, fiscalStart }: Limit, nowMs: number): Period | undefined =>
  per === undefined ? undefined : periodAt(per, zone, nowMs, fiscalStart);

/** The counter a limit asks now. */
export const counterOf = (limit: Limit, nowMs: number): CounterKey => ({
  subject: limit.subject,
  limit: limit.id,
  period: limitPeriod(limit, nowMs)?.key ?? 'now',
});

const NONE: readonly Limit[] = [];

export const limitsOn = (limits: LimitSet, subject: string): readonly Limit[] =>
  limits.bySubject.get(subject) ?? NONE;

/** What every group or personal namespace has by default, without its own limits. */
export const defaultsOf = (
  { personalDefault, groupDefaults }: LimitSet,
  { path, personal }: { readonly path?: string; readonly personal: boolean },
): readonly Limit[] =>
  personal ? personalDefault : path === undefined ? NONE : (groupDefaults?.at(path) ?? NONE);

/** A group's own limits, and the default ones of the kinds it has none of: not even `unlimited`. */
export function withDefaults(
  own: readonly Limit[],
  defaults: readonly Limit[],
  subject: string,
): readonly Limit[] {
  if (defaults.length === 0) return own;
  const inherited = defaults
    .filter((limit) => !own.some((each) => each.kind === limit.kind))
    .map((limit) => ({ ...limit, subject }));
  return inherited.length === 0 ? own : [...own, ...inherited];
}
