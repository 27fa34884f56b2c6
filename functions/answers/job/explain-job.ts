/** One job's decision: the shared explanation, cut to what the viewer may know. */

import { timeoutEstimator } from '../../../policies/estimate.ts';
import type { Violation } from '../../../policies/reason.ts';
import { disclosureFor } from '../../../policies/text/rejection-text.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { isAwaited, type JobRecord } from '../../core/ledger/index.ts';
import type { ReadContext } from '../reading/reading.ts';
import { NOWHERE, type Places, type Scope, scopeOf } from '../reading/scope.ts';
import type { Viewer } from '../reading/viewer.ts';
import { askAgain } from './asked-again.ts';
import { type CounterReader, countersFor } from './counters-read.ts';
import type { CounterLine } from './counters-then-and-now.ts';
import { disclosedViolation, type ViolationTextContext } from './disclosed-violation.ts';
import { type ExplainedRule, type Explanation, explanationOf, type PricedTerms } from './explanation.ts';
import { parseJobReference } from './job-reference.ts';
import { reportJobUrl } from './job-url.ts';
import type {
  ExplainedCounter,
  ExplainedRuleRow,
  ExplainedTerms,
  JobAnswer,
  JobExplanation,
} from './model.ts';
import { recordPlaceOf } from './rejected-jobs.ts';
import { awaitedText, retriedOf } from './retried.ts';
import type { RuleOutcome } from './rule-results.ts';
import { waysOn } from './ways-on.ts';

export const explainJob =
  (reading: ReadContext) =>
  async (word: string, viewer: Viewer): Promise<JobAnswer> => {
    const reference = parseJobReference(word.trim());
    if (!reference.ok) return { outcome: 'unreadable', sentence: reference.problems.join('; ') };
    const { jobId, generation } = reference.value;
    const [[record], { limits }, places = NOWHERE] = await Promise.all([
      reading.ledger.readRecords([jobId]),
      reading.limits(),
      reading.places(),
    ]);
    const { directory } = places;
    const scope = scopeOf(viewer.roles, directory);
    if (record === undefined || !isTheirs(record, scope)) return unknown(jobId);
    if (isAwaited(record))
      return { outcome: 'unknown', sentence: awaitedText(record, reading.clock.nowMs()) };
    if (generation !== undefined && generation !== record.generation)
      return {
        outcome: 'unknown',
        sentence: `Job ${jobId} was decided ${record.generation} times, the last time as d-${jobId}-${record.generation}; of d-${jobId}-${generation} nothing is kept.`,
      };
    const { policy } = reading;
    const nowMs = reading.clock.nowMs();
    const rules = { policy, limits, directory, estimator: timeoutEstimator };
    const again = askAgain(record, rules, nowMs);
    const read: CounterReader = (keys) => reading.ledger.readCounters(keys);
    const counters = await countersFor(record, again, read);
    const explanation = explanationOf(record, {
      ...{ rules, again, nowMs, counters },
      consoleUrl: reading.consoleUrl,
    });
    const disclosure = disclosureFor(recordPlaceOf(record, directory), policy.disclose);
    const tell: ViolationTextContext = { scope, disclosure, currency: policy.currency };
    const rejection =
      explanation.outcome === 'rejected'
        ? await waysOn(record, { rules, again, counters, read, tell, nowMs })
        : undefined;
    const retry = await retriedOf(record, { ...reading, nowMs });
    const told = explained(explanation, tell, places, reading.gitlabUrl);
    return { outcome: 'found', explanation: { ...told, ...withoutAbsent({ rejection, retry }) } };
  };

const unknown = (jobId: number): JobAnswer => ({
  outcome: 'unknown',
  sentence: `Nothing is known of job ${jobId}: it was never asked about, its record has expired, or it is not in one of your groups.`,
});

/** A job is theirs by the group it was decided in, or by the one its project is in now. */
export function isTheirs({ facts: { groupId, projectId } }: JobRecord, scope: Scope): boolean {
  if (scope.seesAll) return true;
  return (
    (groupId !== undefined && scope.seesGroup(groupId)) ||
    (projectId !== undefined && scope.sees(`project/${projectId}`))
  );
}

function explained(
  { now, job, rules, counters, atDecision, limitsVersionNow, notRecorded, ...told }: Explanation,
  tell: ViolationTextContext,
  { directory }: Places,
  gitlabUrl: string | undefined,
): JobExplanation {
  const { rootId: _root, userId: _user, ...where } = job;
  const path = (job.projectId && directory.projectById.get(job.projectId)?.path) || job.projectPath;
  const url = reportJobUrl(gitlabUrl, { ...job, jobId: told.jobId }, directory);
  const seen = counters.filter(({ counter }) => tell.scope.sees(counter.subject));
  const { unchecked, dueAtMs, endedAtMs, durationSeconds, rejectionText, ...always } = told;
  return {
    ...always,
    ...withoutAbsent({ unchecked, dueAtMs, endedAtMs, durationSeconds, rejectionText }),
    job: { ...where, ...withoutAbsent({ projectPath: path, url }) },
    atDecision: termsOf(atDecision),
    ...(now !== undefined && { now: { ...termsOf(now), outcome: now.outcome } }),
    limitsVersionNow,
    rules: rules.map((rule) => ruleRow(rule, tell)),
    counters: seen.map(counterRow),
    countersHidden: counters.length - seen.length,
    notRecorded,
  };
}

const termsOf = (terms: PricedTerms): ExplainedTerms => ({
  runnerClass: terms.runnerClass,
  estimateSeconds: terms.estimateSeconds,
  costMicros: terms.costMicros,
  microsPerMinute: terms.microsPerMinute,
  priceVersion: terms.priceVersion,
  policyVersion: terms.policyVersion,
});

function ruleRow(
  { id, kind, mode, atDecision, now, whyNot }: ExplainedRule,
  tell: ViolationTextContext,
): ExplainedRuleRow {
  const told = (violations: readonly Violation[]) => violations.map((each) => disclosedViolation(each, tell));
  const detail = now && detailOf(now.outcome);
  return {
    id,
    ...withoutAbsent({ kind, mode }),
    atDecision: told(atDecision),
    ...(now !== undefined && {
      now: {
        outcome: now.outcome.outcome,
        ...(detail !== undefined && { detail }),
        violations: told(now.violations),
      },
    }),
    ...(whyNot !== undefined && { whyNot }),
  };
}

function detailOf(outcome: RuleOutcome): string | undefined {
  switch (outcome.outcome) {
    case 'not matched':
      return outcome.value === undefined ? outcome.condition : `${outcome.condition}: ${outcome.value}`;
    case 'exempt':
      return outcome.reason;
    case 'failed':
      return outcome.cause;
    default:
      return undefined;
  }
}

function counterRow({ counter, label, unit, atDecision, now }: CounterLine): ExplainedCounter {
  const { subject, limit, period } = counter;
  return {
    subject,
    label,
    limit,
    period,
    unit,
    ...(atDecision !== undefined && { atDecision: thenOf(atDecision) }),
    now,
  };
}

function thenOf({ jobHeld, jobCounts, checked, seen }: NonNullable<CounterLine['atDecision']>) {
  return {
    jobHeld,
    jobCounts,
    checked,
    ...(seen !== undefined && {
      seen: { committed: seen.committed, bound: seen.bound, left: seen.left, asked: seen.asked },
    }),
  };
}
