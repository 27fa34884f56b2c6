/** The record a verdict becomes. */
import type { HoldOutcome, JobRecord } from './ledger.ts';
import type { WeighedVerdict } from './weighing.ts';

/** A job may run until its timeout; GitLab's own clean-up and late webhooks take up to this much longer. */
export const GRACE_SECONDS = 15 * 60;

/** @param nowMs - stands in where the ask does not say when it was evaluated. */
export function draftRecord(verdict: WeighedVerdict, nowMs: number): JobRecord {
  const { prior } = verdict.job;
  const { decidedAtMs = nowMs } = verdict.job.ask;
  const { ask } = verdict.ask;
  const rejected = verdict.violations.length > 0;
  return {
    jobId: ask.jobId,
    state: rejected ? 'REJECTED' : 'HELD',
    generation: (prior?.generation ?? 0) + 1,
    rev: (prior?.rev ?? 0) + 1,
    facts: ask.facts,
    claims: verdict.claims,
    violations: verdict.violations,
    shadow: verdict.shadow,
    answered: 'ledger',
    ...(ask.unchecked === undefined ? {} : { unchecked: ask.unchecked }),
    flagged: false,
    decidedAtMs,
    ...(rejected ? { endedAtMs: decidedAtMs } : { dueAtMs: dueAtMs(decidedAtMs, ask.facts.timeoutSeconds) }),
    entries: prior?.entries ?? 0,
  };
}

export const dueAtMs = (heldAtMs: number, timeoutSeconds: number): number =>
  heldAtMs + (timeoutSeconds + GRACE_SECONDS) * 1000;

export function decided(verdict: WeighedVerdict): HoldOutcome {
  const generation = (verdict.job.prior?.generation ?? 0) + 1;
  const [first, ...rest] = verdict.violations;
  return first === undefined
    ? { outcome: 'admitted', generation, repeated: false, shadow: verdict.shadow }
    : {
        outcome: 'rejected',
        generation,
        repeated: false,
        violations: [first, ...rest],
        shadow: verdict.shadow,
      };
}
