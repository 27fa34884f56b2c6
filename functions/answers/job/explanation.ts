import { placementOf } from '../../../policies/place/placement.ts';
import type { Violation } from '../../../policies/reason.ts';
import { retriedBy } from '../../../policies/requeue.ts';
import { disclosureFor, footerOf, rejectionText } from '../../../policies/text/rejection-text.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { type Counter, type JobRecord, wasRejected } from '../../core/ledger/index.ts';
import { jobPagePath, linkTo } from '../../core/notify/console-links.ts';
import { type CurrentVerdict, type ReevaluatedJob, verdictNow } from './asked-again.ts';
import { type CounterLine, counterLines } from './counters-then-and-now.ts';
import type { EvaluationRules, RuleOutcome } from './rule-results.ts';

/** Everything there is to say about one decision. What `--json` prints. */
export interface Explanation {
  readonly jobId: number;
  readonly decisionId: string;
  readonly decidedAtMs: number;
  readonly outcome: 'admitted' | 'rejected';
  readonly state: JobRecord['state'];
  /** Who answered GitLab. */
  readonly answered: JobRecord['answered'];
  /** Charged without asking, and why. */
  readonly unchecked?: JobRecord['unchecked'];
  /** Rejected, and yet it ran. */
  readonly flagged: boolean;
  readonly dueAtMs?: number;
  readonly endedAtMs?: number;
  readonly durationSeconds?: number;
  readonly job: {
    readonly name?: string;
    readonly projectPath?: string;
    readonly projectId?: number;
    readonly groupId?: number;
    readonly rootId?: number;
    readonly pipelineId?: number;
    readonly userId?: number;
    /** Instead of it, where the id is not kept any more. */
    readonly userPseudonym?: string;
  };
  readonly currency: string;
  readonly atDecision: PricedTerms;
  /** Absent where the question was not recorded. */
  readonly now?: PricedTerms & CurrentVerdict;
  readonly limitsVersionNow: string;
  readonly rules: readonly ExplainedRule[];
  readonly counters: readonly CounterLine[];
  /** As the job page showed it, as far as the record has it; with today's footers and disclosure. */
  readonly rejectionText?: string;
  /** What could not be told, one sentence each. */
  readonly notRecorded: readonly string[];
}

export interface PricedTerms {
  readonly runnerClass: string;
  /** The job's tags belong to no class; this one stands in. */
  readonly unclassed?: true;
  readonly estimateSeconds: number;
  readonly costMicros: number;
  readonly microsPerMinute: number;
  readonly priceVersion: string;
  readonly policyVersion: string;
}

export interface ExplainedRule {
  readonly id: string;
  readonly kind?: string;
  readonly mode?: string;
  /** What it had against the job then, as recorded. */
  readonly atDecision: readonly Violation[];
  /** Absent: not asked again, `whyNot` says why. */
  readonly now?: { readonly outcome: RuleOutcome; readonly violations: readonly Violation[] };
  readonly whyNot?: string;
}

export interface ExplanationContext {
  readonly rules: EvaluationRules;
  readonly again: ReevaluatedJob | undefined;
  /** Unix ms. */
  readonly nowMs: number;
  /** As read now, by `counterName`. */
  readonly counters: ReadonlyMap<string, Counter>;
  /** `https://budget.example.com`, as rejections name it. Absent: there is no console, or it is not known. */
  readonly consoleUrl?: string | undefined;
}

/** The record and today's documents and counters → the explanation. Pure. */
export function explanationOf(record: JobRecord, using: ExplanationContext): Explanation {
  const { rules, again, counters, nowMs } = using;
  const { facts, generation, jobId } = record;
  const { jobName, projectPath, projectId, groupId, rootId, pipelineId, userId, userPseudonym } = facts;
  const decisionId = `d-${jobId}-${generation}`;
  const now = again && {
    ...termsNow(again, rules.policy.version),
    ...verdictNow(again, record, counters),
  };
  const text = textThen(record, decisionId, using);
  return {
    jobId,
    decisionId,
    decidedAtMs: record.decidedAtMs,
    outcome: outcomeOf(record),
    state: record.state,
    answered: record.answered,
    flagged: record.flagged,
    ...withoutAbsent({
      unchecked: record.unchecked,
      dueAtMs: record.dueAtMs,
      endedAtMs: record.endedAtMs,
      durationSeconds: record.durationSeconds,
    }),
    job: withoutAbsent({
      name: jobName,
      projectPath,
      projectId,
      groupId,
      rootId,
      pipelineId,
      userId,
      userPseudonym,
    }),
    currency: rules.policy.currency,
    atDecision: termsThen(record),
    ...(now !== undefined && { now }),
    limitsVersionNow: rules.limits.version,
    rules: explainedRules(record, using, now),
    counters: counterLines(record, again?.claims ?? [], counters, { ...rules, nowMs }),
    ...(text !== undefined && { rejectionText: text }),
    notRecorded: notRecorded(record, again),
  };
}

/** A rejected job that ran is settled by now; whoever charged it unmetered had let it pass. */
const outcomeOf = (record: JobRecord): Explanation['outcome'] =>
  wasRejected(record) ? 'rejected' : 'admitted';

const termsThen = ({ facts }: JobRecord): PricedTerms => ({
  runnerClass: facts.runnerClass,
  estimateSeconds: facts.estimateSeconds,
  costMicros: facts.costMicros,
  microsPerMinute: facts.microsPerMinute,
  priceVersion: facts.priceVersion,
  policyVersion: facts.policyVersion,
});

const termsNow = (
  { terms, microsPerMinute, priceVersion }: ReevaluatedJob,
  policyVersion: string,
): PricedTerms => ({
  runnerClass: terms.runnerClass,
  ...(terms.unclassed && { unclassed: terms.unclassed }),
  estimateSeconds: terms.estimateSeconds,
  costMicros: terms.costMicros,
  microsPerMinute,
  priceVersion,
  policyVersion,
});

function textThen(record: JobRecord, decisionId: string, { rules, consoleUrl }: ExplanationContext) {
  const { policy, directory } = rules;
  const { facts, jobId, decidedAtMs } = record;
  const [first, ...rest] = record.violations;
  if (outcomeOf(record) !== 'rejected' || first === undefined) return undefined;
  const { projectId, projectPath, groupId, rootId } = facts;
  const placed = placementOf(
    {
      jobId,
      ...withoutAbsent({ projectId, projectPath, namespaceId: groupId, rootNamespaceId: rootId }),
      ...withoutAbsent({ projectVisibility: facts.asked?.projectVisibility }),
    },
    directory,
  );
  const footer = footerOf(policy.rules, [first, ...rest]);
  return rejectionText({
    request: { jobId, ...withoutAbsent({ jobName: facts.asked?.jobName ?? facts.jobName }) },
    violations: [first, ...rest],
    terms: { ...termsThen(record), currency: policy.currency, group: placed.groupPath ?? '' },
    decisionId,
    nowMs: decidedAtMs,
    disclosure: disclosureFor(placed, policy.disclose),
    detailsUrl: linkTo(consoleUrl, jobPagePath(jobId)),
    ...withoutAbsent({ footer, retried: retriedBy(policy.requeue, facts.groupIds, record.violations) }),
  });
}

/** Every rule of today's policy in its order, then those that are gone and had something to say. */
function explainedRules(
  record: JobRecord,
  { rules, again }: ExplanationContext,
  now: CurrentVerdict | undefined,
): readonly ExplainedRule[] {
  const against = [...(now?.violations ?? []), ...(now?.shadow ?? [])];
  const recorded = [...record.violations, ...record.shadow];
  const said = (id: string): readonly Violation[] => recorded.filter(({ rule }) => rule === id);
  const present = rules.policy.rules.map(({ id, kind, mode }): ExplainedRule => {
    const result = again?.results.find((each) => each.id === id);
    const rule = { id, kind, mode: result?.mode ?? mode, atDecision: said(id) };
    if (again === undefined || result === undefined) return { ...rule, whyNot: 'the question was not kept' };
    if (again.needUser.has(id)) return { ...rule, whyNot: 'needs the user, whose id is not kept any more' };
    if (again.unaskable.has(id)) return { ...rule, whyNot: "needs variables' values, which are never kept" };
    return {
      ...rule,
      now: { outcome: result.outcome, violations: against.filter((each) => each.rule === id) },
    };
  });
  const ids = new Set(present.map(({ id }) => id));
  const gone = [...new Set(recorded.map(({ rule }) => rule))].filter((id) => !ids.has(id));
  return [
    ...present,
    ...gone.map(
      (id): ExplainedRule => ({ id, atDecision: said(id), whyNot: 'no rule of the policy any more' }),
    ),
  ];
}

function notRecorded(record: JobRecord, again: ReevaluatedJob | undefined): readonly string[] {
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
  missing.push(
    'What counters showed that had room: only one that refuses is written down, with its numbers.',
    'Rules that had nothing against the job then: silence and no match look alike.',
  );
  return missing;
}
