import { DAY_MS } from './limits/calendar.ts';
import type { Rollout, RolloutClass } from './limits/limits.ts';
import type { Mode } from './mode.ts';

// Steps from shadow to enforce: current step, requirements of the next, and the way back. Pure; the facts
// are counted elsewhere.

/** `reported` is shadow whose owner has the shadow report. */
export type RolloutStep = 'off' | 'shadow' | 'reported' | 'warn' | 'enforce';

export const ROLLOUT_STEPS: readonly RolloutStep[] = ['off', 'shadow', 'reported', 'warn', 'enforce'];
export const ROLLOUT_CLASSES: readonly RolloutClass[] = ['cost', 'capacity'];

/** The state of a subject for one rule class. */
export interface RolloutStanding {
  readonly step: RolloutStep;
  readonly mode: Mode;
  /** The subject with the entry. Absent: there is none, and all rules are enforced. */
  readonly from?: string;
  /** Unix ms. Absent: unknown. */
  readonly sinceMs?: number;
  /** When the owner last got the shadow report, Unix ms. */
  readonly reportedMs?: number;
}

/** @param subjects - `rolloutSubjects`: the closest that names the class decides, and a report counts that is as close. */
export function rolloutStanding(
  ruleClass: RolloutClass,
  subjects: readonly string[],
  rollouts: ReadonlyMap<string, Rollout>,
): RolloutStanding {
  let reportedMs: number | undefined;
  for (const from of subjects) {
    const rollout = rollouts.get(from);
    if (rollout === undefined) continue;
    if (rollout.reportedMs !== undefined) reportedMs = Math.max(reportedMs ?? 0, rollout.reportedMs);
    const mode = rollout[ruleClass];
    if (mode === undefined) continue;
    const sinceMs = rollout.sinceMs?.[ruleClass];
    return {
      step: stepOf(mode, reportedMs),
      mode,
      from,
      ...(sinceMs !== undefined && { sinceMs }),
      ...(reportedMs !== undefined && { reportedMs }),
    };
  }
  return { step: 'enforce', mode: 'enforce', ...(reportedMs !== undefined && { reportedMs }) };
}

const stepOf = (mode: Mode, reportedMs: number | undefined): RolloutStep =>
  mode === 'shadow' && reportedMs !== undefined ? 'reported' : mode;

/** Undefined: it is the last. */
export const nextStep = (step: RolloutStep): RolloutStep | undefined =>
  ROLLOUT_STEPS[ROLLOUT_STEPS.indexOf(step) + 1];

/** The mode of each step. */
const MODE_OF: Readonly<Record<RolloutStep, Mode>> = {
  off: 'off',
  shadow: 'shadow',
  reported: 'shadow',
  warn: 'warn',
  enforce: 'enforce',
};

/** Requirements of the next step; a deployment may set every number. */
export interface RolloutSettings {
  /** Days with jobs on the step before. */
  readonly days: number;
  /** Share of the jobs that ran which were asked about. */
  readonly coveragePercent: number;
  /** The largest share of jobs that would have failed, before they do. */
  readonly wouldFailPercent: number;
  /** Days the owner has had the report, to answer it. */
  readonly reportDays: number;
}

/** The longest span that facts are counted over. */
export const ROLLOUT_DAYS_MAX = 28;

export const ROLLOUT_DEFAULTS: RolloutSettings = {
  days: 7,
  coveragePercent: 95,
  wouldFailPercent: 5,
  reportDays: 2,
};

/** Facts counted since the step began, within the span that was read. */
export interface RolloutFacts {
  /** Days on which jobs ran. */
  readonly days: number;
  readonly jobs: number;
  /** Part of `jobs`, and no less than what really would have. */
  readonly wouldFail: number;
  /** Absent: no job that ran was counted yet. */
  readonly coveragePercent?: number;
  /** For the instance: groups at the top that have no entry of their own, and go along. */
  readonly followers?: number;
  readonly nowMs: number;
}

/** One thing the next step needs. */
interface RolloutNeed {
  readonly code: 'days' | 'report' | 'coverage' | 'would-fail' | 'groups';
  readonly met: boolean;
  /** Days, per cent or groups; absent: not known, or none. */
  readonly has?: number;
  readonly wants: number;
}

/** Per cent, rounded so that nothing looks better than it is. */
const shareUp = (part: number, whole: number): number =>
  whole === 0 ? 0 : Math.ceil((part * 1_000) / whole) / 10;

/** Returns the requirements of the next step, met or not. The first step and the end have none. */
export function rolloutNeeds(
  { step, reportedMs }: Pick<RolloutStanding, 'step' | 'reportedMs'>,
  facts: RolloutFacts,
  settings: RolloutSettings,
): readonly RolloutNeed[] {
  if (step === 'off' || step === 'enforce') return [];
  const { coveragePercent: coverage } = facts;
  const days: RolloutNeed = {
    code: 'days',
    met: facts.days >= settings.days,
    has: facts.days,
    wants: settings.days,
  };
  const reportDays = reportedMs === undefined ? undefined : Math.floor((facts.nowMs - reportedMs) / DAY_MS);
  const report: RolloutNeed = {
    code: 'report',
    met: reportDays !== undefined && reportDays >= settings.reportDays,
    ...(reportDays !== undefined && { has: reportDays }),
    wants: settings.reportDays,
  };
  if (step === 'shadow') return [days, report];
  const covered: RolloutNeed = {
    code: 'coverage',
    met: coverage !== undefined && coverage >= settings.coveragePercent,
    ...(coverage !== undefined && { has: coverage }),
    wants: settings.coveragePercent,
  };
  // One group's step never depends on the others.
  const groups: readonly RolloutNeed[] =
    facts.followers === undefined
      ? []
      : [{ code: 'groups', met: facts.followers === 0, has: facts.followers, wants: 0 }];
  if (step === 'reported') return [days, report, covered, ...groups];
  const share = shareUp(facts.wouldFail, facts.jobs);
  const failing: RolloutNeed = {
    code: 'would-fail',
    met: share <= settings.wouldFailPercent,
    has: share,
    wants: settings.wouldFailPercent,
  };
  return [days, report, covered, failing, ...groups];
}

/** Changes that a move writes for one rule class. */
export interface RolloutChange {
  readonly mode: Mode;
  /** `null`: send the report again. */
  readonly reportedMs: number | null;
}

/**
 * Returns the next step. The report is not a step of its own and may be skipped after shadow. Undefined at
 * the last step.
 */
export function stepOn({ step, reportedMs }: RolloutStanding): RolloutChange | undefined {
  const next = nextStep(step === 'shadow' ? 'reported' : step);
  return next && { mode: MODE_OF[next], reportedMs: reportedMs ?? null };
}

/** One step back, never below shadow: only `out` takes rules out of it. Undefined: there is none. */
export function stepBack({ step, reportedMs }: RolloutStanding): RolloutChange | undefined {
  switch (step) {
    case 'enforce':
      return { mode: 'warn', reportedMs: reportedMs ?? null };
    case 'warn':
      return { mode: 'shadow', reportedMs: reportedMs ?? null };
    case 'reported':
      return { mode: 'shadow', reportedMs: null };
    case 'shadow':
    case 'off':
      return undefined;
  }
}
