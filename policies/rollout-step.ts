/**
 * The way from watching to enforcing, step by step: where somebody stands, what the next step needs, and where a step back
 * leads. Pure. The numbers are counted elsewhere; what is decided from them is decided here.
 */
import { DAY_MS } from './limits/calendar.ts';
import type { Rollout, RolloutClass } from './limits/limits.ts';
import type { Mode } from './mode.ts';

/** `reported` is shadow whose owner has the shadow report. */
export type RolloutStep = 'off' | 'shadow' | 'reported' | 'warn' | 'enforce';

export const ROLLOUT_STEPS: readonly RolloutStep[] = ['off', 'shadow', 'reported', 'warn', 'enforce'];
export const ROLLOUT_CLASSES: readonly RolloutClass[] = ['cost', 'capacity'];

/** Where a subject stands with one class of rule. */
export interface RolloutStanding {
  readonly step: RolloutStep;
  readonly mode: Mode;
  /** Whose entry says so; absent: nobody's, and then everything is enforced. */
  readonly from?: string;
  /** Unix ms; absent: nobody wrote it down. */
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

/** How far rules go on a step. */
const MODE_OF: Readonly<Record<RolloutStep, Mode>> = {
  off: 'off',
  shadow: 'shadow',
  reported: 'shadow',
  warn: 'warn',
  enforce: 'enforce',
};

/** What the next step needs; all numbers that a deployment may set. */
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

/** Nobody looks back further. */
export const ROLLOUT_DAYS_MAX = 28;

export const ROLLOUT_DEFAULTS: RolloutSettings = {
  days: 7,
  coveragePercent: 95,
  wouldFailPercent: 5,
  reportDays: 2,
};

/** What was counted since the step began, as far back as anybody looked. */
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

/** What the step after `standing.step` needs, met or not; none to begin to watch, and none after the last. */
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
  // Nobody's rules go further because of how all the others do.
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

/** What a move writes into the entry of its subject, for one class. */
export interface RolloutChange {
  readonly mode: Mode;
  /** `null`: the report is to be sent anew. */
  readonly reportedMs: number | null;
}

/** One step on. A report is sent and not moved to: whoever goes on from shadow without one leaves it out. Undefined: no step is left. */
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
