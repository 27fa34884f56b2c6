/** One job's decision, then and now, cut to what the viewer may know. */
import type { EvaluationContext } from '../../../policies/evaluate.ts';
import type { Violation } from '../../../policies/reason.ts';
import { disclosureFor } from '../../../policies/text/rejection-text.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { type CurrentDecision, decideNow, decisionIdOf, pageText } from '../../core/admission/index.ts';
import { isAwaited, type JobFacts, type JobRecord, wasRejected } from '../../core/ledger/index.ts';
import { jobPagePath, linkTo } from '../../core/notify/console-links.ts';
import type { ReadContext } from '../reading/reading.ts';
import { rulesNow } from '../reading/rules-now.ts';
import { NOWHERE, type Scope, scopeOf } from '../reading/scope.ts';
import type { Viewer } from '../reading/viewer.ts';
import { askAgain, type ReevaluatedJob } from './asked-again.ts';
import { type CounterReader, countersFor } from './counters-read.ts';
import { type CounterLine, counterLines } from './counters-then-and-now.ts';
import { reasonsOf, ruleNowOf, waitOf } from './decision-lines.ts';
import { disclosedViolation, type ViolationTextContext } from './disclosed-violation.ts';
import { parseJobReference } from './job-reference.ts';
import { reportJobUrl } from './job-url.ts';
import type { ExplainedCounter, ExplainedRuleRow, ExplainedTerms, JobAnswer } from './model.ts';
import { recordPlaceOf } from './rejected-jobs.ts';
import { awaitedText, retriedOf } from './retried.ts';
import { waysOn } from './ways-on.ts';

export const explainJob =
  (reading: ReadContext) =>
  async (word: string, viewer: Viewer): Promise<JobAnswer> => {
    const reference = parseJobReference(word.trim());
    if (!reference.ok) return { outcome: 'unreadable', sentence: reference.problems.join('; ') };
    const { jobId, generation } = reference.value;
    const [[record], { rules: inForce, places, estimatorOf }] = await Promise.all([
      reading.ledger.readRecords([jobId]),
      rulesNow(reading),
    ]);
    const { directory, nowMs } = { ...places, ...inForce };
    const scope = scopeOf(viewer.roles, directory);
    if (record === undefined || !isTheirs(record, scope)) return unknown(jobId);
    if (isAwaited(record)) return { outcome: 'unknown', sentence: awaitedText(record, nowMs) };
    if (generation !== undefined && generation !== record.generation)
      return {
        outcome: 'unknown',
        sentence: `Job ${jobId} was decided ${record.generation} times, the last time as ${decisionIdOf(record)}; of ${decisionIdOf({ jobId, generation })} nothing is kept.`,
      };
    const { policy, consoleUrl, gitlabUrl } = reading;
    const { facts } = record;
    const rules = { ...inForce, estimator: await estimatorOf(facts.projectId) };
    const again = askAgain(record, rules);
    const read: CounterReader = (keys) => reading.ledger.readCounters(keys);
    const counters = await countersFor(record, again, read);
    const now = again && decideNow(again, counters, nowMs, record.claims);
    const placement = recordPlaceOf(record, directory);
    const disclosure = disclosureFor(placement, policy.disclose);
    const tell: ViolationTextContext = { scope, disclosure, currency: policy.currency };
    const isRejected = wasRejected(record);
    const rejection = isRejected
      ? await waysOn(record, { rules, again, now, counters, read, tell })
      : undefined;
    const retry = await retriedOf(record, { ...reading, nowMs });
    const { jobName: name, projectId, projectPath, groupId, pipelineId } = facts;
    const path = (projectId && directory.projectById.get(projectId)?.path) || projectPath;
    const url = reportJobUrl(gitlabUrl, { ...withoutAbsent({ projectId, projectPath }), jobId }, directory);
    const lines = counterLines(record, again?.evaluation.claims ?? [], counters, rules);
    const seen = lines.filter(({ counter }) => scope.sees(counter.subject));
    const { unchecked, dueAtMs, endedAtMs, durationSeconds } = record;
    return {
      outcome: 'found',
      explanation: {
        jobId,
        decisionId: decisionIdOf(record),
        decidedAtMs: record.decidedAtMs,
        outcome: isRejected ? 'rejected' : 'admitted',
        state: record.state,
        answered: record.answered,
        flagged: record.flagged,
        ...withoutAbsent({ unchecked, dueAtMs, endedAtMs, durationSeconds }),
        job: withoutAbsent({ name, projectPath: path, projectId, groupId, pipelineId, url }),
        currency: policy.currency,
        atDecision: termsOf(facts),
        ...(again &&
          now && {
            now: {
              ...termsOf(again.evaluation.facts),
              outcome: now.outcome,
              ...waitOf(now),
              reasons: reasonsOf(now, tell),
            },
          }),
        limitsVersionNow: rules.limits.version,
        rules: ruleRows(record, rules, again, now, tell),
        counters: seen.map(counterRow),
        countersHidden: lines.length - seen.length,
        ...withoutAbsent({ rejection, retry, rejectionText: textThen(record, rules, tell, consoleUrl) }),
        notRecorded: notRecorded(record, again),
      },
    };
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

const termsOf = (facts: JobFacts): ExplainedTerms => {
  const { runnerClass, estimateSeconds, costMicros, microsPerMinute, priceVersion, policyVersion } = facts;
  return { runnerClass, estimateSeconds, costMicros, microsPerMinute, priceVersion, policyVersion };
};

/** The text of the rejection, with today's footers and disclosure. Undefined if the job was not rejected for a reason. */
function textThen(
  record: JobRecord,
  { policy, directory = NOWHERE.directory }: EvaluationContext,
  { disclosure, currency }: ViolationTextContext,
  consoleUrl: string | undefined,
): string | undefined {
  const { facts, jobId, decidedAtMs } = record;
  const [first, ...rest] = record.violations;
  if (!wasRejected(record) || first === undefined) return undefined;
  const group = recordPlaceOf(record, directory).groupPath ?? '';
  const rejection = {
    request: { jobId, ...withoutAbsent({ jobName: facts.asked?.jobName ?? facts.jobName }) },
    violations: [first, ...rest],
    terms: { ...termsOf(facts), currency, group },
    decisionId: decisionIdOf(record),
    nowMs: decidedAtMs,
    disclosure,
    detailsUrl: linkTo(consoleUrl, jobPagePath(jobId)),
  } as const;
  return pageText(rejection, facts.groupIds, policy);
}

/** Every rule of today's policy in its order, then what else had or has something against the job: freezes, rules that are gone. */
function ruleRows(
  record: JobRecord,
  { policy }: EvaluationContext,
  again: ReevaluatedJob | undefined,
  now: CurrentDecision | undefined,
  tell: ViolationTextContext,
): ExplainedRuleRow[] {
  const of = (id: string, all: readonly Violation[] = []) =>
    all.filter(({ rule }) => rule === id).map((each) => disclosedViolation(each, tell));
  const recorded = [...record.violations, ...record.shadow];
  const current = [...(now?.violations ?? []), ...(now?.shadow ?? [])];
  const present = policy.rules.map(({ id, kind, mode }): ExplainedRuleRow => {
    const result = again?.results.find((each) => each.id === id);
    const rule = { id, kind, mode: result?.mode ?? mode, atDecision: of(id, recorded) };
    if (again === undefined || now === undefined || result === undefined)
      return { ...rule, whyNot: 'the question was not kept' };
    if (again.needUser.has(id)) return { ...rule, whyNot: 'needs the user, whose id is not kept any more' };
    if (again.unaskable.has(id)) return { ...rule, whyNot: "needs variables' values, which are never kept" };
    return { ...rule, now: ruleNowOf(result, now, tell) };
  });
  const ids = new Set(present.map(({ id }) => id));
  const others = [...new Set([...recorded, ...current].map(({ rule }) => rule))].filter((id) => !ids.has(id));
  return [
    ...present,
    ...others.map((id): ExplainedRuleRow => {
      const row = { id, atDecision: of(id, recorded) };
      const violations = of(id, current);
      return violations.length > 0
        ? { ...row, now: { outcome: 'matched', violations } }
        : { ...row, whyNot: 'no rule of the policy any more' };
    }),
  ];
}

function notRecorded(record: JobRecord, again: ReevaluatedJob | undefined): string[] {
  const missing: string[] = [];
  if (again === undefined) {
    missing.push(
      'What the rules looked at: the record had no room for it, or is of an older version. So they cannot be asked again.',
    );
  } else {
    const { needUser } = again;
    const needVariables = [...again.unaskable].filter((id) => !needUser.has(id));
    if (needVariables.length > 0)
      missing.push(
        `Variables' values, on purpose. So these rules cannot be asked again: ${needVariables.join(', ')}.`,
      );
    if (needUser.size > 0)
      missing.push(
        `Who started it: 90 days after a job a pseudonym stands for the user. So these rules cannot be asked again: ${[...needUser].join(', ')}.`,
      );
  }
  if (record.answered === 'fallback' && record.violations.length === 0 && record.state === 'REJECTED')
    missing.push("The fallback's own reason: it is in the relay's log.");
  if (record.facts.policyVersion === '') missing.push('The version of the policy.');
  return [
    ...missing,
    'What counters showed that had room: only one that refuses is written down, with its numbers.',
    'Rules that had nothing against the job then: silence and no match look alike.',
  ];
}

function counterRow({ counter, label, unit, atDecision, now }: CounterLine): ExplainedCounter {
  const { subject, limit, period } = counter;
  return { subject, label, limit, period, unit, ...withoutAbsent({ atDecision }), now };
}
