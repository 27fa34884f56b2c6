import { DAY_MS } from './limits/calendar.ts';
import type { Rollout, RolloutClass } from './limits/limits.ts';
import type { Mode } from './mode.ts';
import { withoutAbsent } from './without-absent.ts';

// Steps from shadow to enforce: current step, requirements of the next, and the way back. Pure; the facts
// are counted elsewhere.

export const ROLLOUT_STEPS = ['off', 'shadow', 'reported', 'warn', 'enforce'] as const;

export type RolloutStep = (typeof ROLLOUT_STEPS)[number];

export const ROLLOUT_CLASSES: readonly RolloutClass[] = ['cost', 'capacity'];

export interface RolloutStatus {
  readonly step: RolloutStep;
  readonly mode: Mode;
  readonly from?: string;
  readonly sinceMs?: number;
  readonly reportedMs?: number;
}

/** @param subjects - `rolloutSubjects`: the closest that names the class decides, and a report counts that is as close. */
export function rolloutStatus(
  ruleClass: RolloutClass,
  subjects: readonly string[],
  rollouts: ReadonlyMap<string, Rollout>,
): RolloutStatus {
  let reportedMs: number | undefined;
  for (const from of subjects) {
    const rollout = rollouts.get(from);
    if (rollout === undefined) continue;
    if (rollout.reportedMs !== undefined) reportedMs = Math.max(reportedMs ?? 0, rollout.reportedMs);
    const mode = rollout[ruleClass];
    if (mode === undefined) continue;
    const step = mode === 'shadow' && reportedMs !== undefined ? 'reported' : mode;
    return { step, mode, from, ...withoutAbsent({ sinceMs: rollout.sinceMs?.[ruleClass], reportedMs }) };
  }
  return { step: 'enforce', mode: 'enforce', ...(reportedMs !== undefined && { reportedMs }) };
}

export const nextStep = (step: RolloutStep): RolloutStep | undefined =>
  ROLLOUT_STEPS[ROLLOUT_STEPS.indexOf(step) + 1];

export const ROLLOUT_DAYS_MAX = 28;

export const ROLLOUT_DEFAULTS = { days: 7, coveragePercent: 95, wouldFailPercent: 5, reportDays: 2 };

export type RolloutSettings = Readonly<typeof ROLLOUT_DEFAULTS>;

export interface RolloutFacts {
  readonly days: number;
  readonly jobs: number;
  /** Part of `jobs`, and no less than what really would have. */
  readonly wouldFail: number;
  readonly coveragePercent?: number;
  /** For the instance: groups at the top that have no entry of their own, and go along. */
  readonly followers?: number;
  readonly nowMs: number;
}

interface RolloutNeed {
  readonly code: 'days' | 'report' | 'coverage' | 'would-fail' | 'groups';
  readonly met: boolean;
  readonly has?: number;
  readonly wants: number;
}

export function rolloutNeeds(
  { step, reportedMs }: Pick<RolloutStatus, 'step' | 'reportedMs'>,
  facts: RolloutFacts,
  settings: RolloutSettings,
): readonly RolloutNeed[] {
  if (step === 'off' || step === 'enforce') return [];
  const needs: RolloutNeed[] = [];
  const atLeast = (code: RolloutNeed['code'], has: number | undefined, wants: number): void => {
    needs.push({ code, met: (has ?? -1) >= wants, wants, ...withoutAbsent({ has }) });
  };
  const atMost = (code: RolloutNeed['code'], has: number, wants: number): void => {
    needs.push({ code, met: has <= wants, wants, has });
  };
  atLeast('days', facts.days, settings.days);
  const reportMs = reportedMs === undefined ? undefined : facts.nowMs - reportedMs;
  atLeast('report', reportMs && Math.floor(reportMs / DAY_MS), settings.reportDays);
  if (step === 'shadow') return needs;
  atLeast('coverage', facts.coveragePercent, settings.coveragePercent);
  // Rounded up, so that nothing looks better than it is.
  const wouldFailPercent = facts.jobs === 0 ? 0 : Math.ceil((facts.wouldFail * 1_000) / facts.jobs) / 10;
  if (step === 'warn') atMost('would-fail', wouldFailPercent, settings.wouldFailPercent);
  // One group's step never depends on the others.
  if (facts.followers !== undefined) atMost('groups', facts.followers, 0);
  return needs;
}

export interface RolloutChange {
  readonly mode: Mode;
  /** `null`: send the report again. */
  readonly reportedMs: number | null;
}

export function stepOn({ step, reportedMs }: RolloutStatus): RolloutChange | undefined {
  const next = nextStep(step === 'shadow' ? 'reported' : step);
  return next && { mode: next === 'reported' ? 'shadow' : next, reportedMs: reportedMs ?? null };
}

/** One step back, never below shadow: only `out` takes rules out of it. Undefined: there is none. */
export function stepBack({ step, reportedMs }: RolloutStatus): RolloutChange | undefined {
  if (step === 'shadow' || step === 'off') return undefined;
  if (step === 'reported') return { mode: 'shadow', reportedMs: null };
  return { mode: step === 'enforce' ? 'warn' : 'shadow', reportedMs: reportedMs ?? null };
}
