/** Explains the decision about a job, then and now, as far as the caller may see it. */
import { type CounterKey, counterName, type LimitClaim } from '../../../policies/claim.ts';
import type { EvaluationContext } from '../../../policies/evaluate.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { writtenLimit } from '../../../policies/limits/limit-fields.ts';
import { limitAt, limitOfCounter } from '../../../policies/limits/limits.ts';
import { pricesAt } from '../../../policies/price.ts';
import type { Reason, Violation } from '../../../policies/reason.ts';
import { writtenDay } from '../../../policies/text/edge-text.ts';
import {
  bindingFirst,
  discreetHeadline,
  headline,
  retryAdvice,
} from '../../../policies/text/reason-texts.ts';
import { disclosureFor } from '../../../policies/text/rejection-text.ts';
import { kindRow, unitRow, writtenUnits } from '../../../policies/unit.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { decisionIdOf, pageText } from '../../core/admission/decide.ts';
import { type CurrentDecision, countersAsked, decideNow } from '../../core/admission/judge.ts';
import type { Counter, JobFacts, JobRecord, RecordClaim } from '../../core/ledger/ledger.ts';
import { hasNoAdmissionRequest } from '../../core/ledger/reservation.ts';
import { wasRejected } from '../../core/ledger/settle.ts';
import { jobPagePath, linkTo } from '../../core/notify/console-links.ts';
import { findRecipient } from '../../core/notify/recipient.ts';
import { type Caller, type ReadContext, rulesNow } from '../reading/context.ts';
import type { CountersByName, CurrentCounters } from '../reading/counters-now.ts';
import { formatSubjectLabel, NOWHERE } from '../reading/scope.ts';
import {
  disclosedViolation,
  reasonsOf,
  ruleNowOf,
  type ViolationTextContext,
  violationText,
  waitOf,
} from './decision-lines.ts';
import { parseJobReference } from './job-reference.ts';
import type { ExplainedCounter, ExplainedRuleRow, ExplainedTerms, JobAnswer, JobRejection } from './model.ts';
import { isVisible, recordPlaceOf, reportJobUrl } from './recorded-job.ts';
import { awaitedText, readRetry } from './retried.ts';
import { type ReevaluatedJob, reevaluate } from './rule-results.ts';

/** @param word - a job id, a decision id `d-4711-1`, or the address of a job's page */
export const explainJob =
  (reading: ReadContext) =>
  async (word: string, caller: Caller): Promise<JobAnswer> => {
    const reference = parseJobReference(word.trim());
    if (!reference.ok) return { outcome: 'unreadable', sentence: reference.problems.join('; ') };
    const { jobId, generation } = reference.value;
    const [[record], { view, rulesFor }] = await Promise.all([
      reading.ledger.readRecords([jobId]),
      rulesNow(reading, caller),
    ]);
    const { directory, scope, nowMs } = view;
    const unknown = (sentence: string): JobAnswer => ({ outcome: 'unknown', sentence });
    if (record === undefined || !isVisible(record, scope))
      return unknown(
        `Nothing is known of job ${jobId}: it was never asked about, its record has expired, or it is not in one of your groups.`,
      );
    if (hasNoAdmissionRequest(record)) return unknown(awaitedText(record, nowMs));
    if (generation !== undefined && generation !== record.generation)
      return unknown(
        `Job ${jobId} was decided ${record.generation} times, the last time as ${decisionIdOf(record)}; of ${decisionIdOf({ jobId, generation })} nothing is kept.`,
      );
    const { policy, consoleUrl, gitlabUrl } = reading;
    const { jobName: name, projectId, projectPath, groupId, pipelineId } = record.facts;
    const rules = await rulesFor(projectId);
    const again = reevaluate(record, rules);
    const claims = again?.evaluation.claims ?? [];
    const needed = again === undefined ? [] : countersAsked(again.evaluation);
    const counters = await reading.counters.fresh([...countersOf(record, claims), ...needed]);
    const now = again && decideNow(again, counters, nowMs, record.claims);
    const disclosure = disclosureFor(recordPlaceOf(record, directory), policy.disclose);
    const using = { scope, disclosure, currency: policy.currency };
    const isRejected = wasRejected(record);
    const lines = counterLines(record, claims, counters, rules);
    const seen = lines.filter(({ subject }) => scope.sees(subject));
    const { unchecked, dueAtMs, endedAtMs, durationSeconds } = record;
    return {
      outcome: 'found',
      explanation: {
        ...{ jobId, decisionId: decisionIdOf(record), decidedAtMs: record.decidedAtMs },
        outcome: isRejected ? 'rejected' : 'admitted',
        ...{ state: record.state, answered: record.answered, flagged: record.flagged },
        ...withoutAbsent({ unchecked, dueAtMs, endedAtMs, durationSeconds }),
        job: withoutAbsent({
          ...{ name, projectId, groupId, pipelineId },
          projectPath: directory.projectById.get(projectId ?? 0)?.path || projectPath,
          url: reportJobUrl(gitlabUrl, { jobId, ...withoutAbsent({ projectId, projectPath }) }, directory),
        }),
        currency: policy.currency,
        atDecision: termsOf(record.facts),
        ...(again &&
          now && {
            now: {
              ...{ ...termsOf(again.evaluation.facts), outcome: now.outcome, ...waitOf(now) },
              reasons: reasonsOf(now, using),
            },
          }),
        rules: ruleRows(record, rules, again, now, using),
        counters: seen,
        countersHidden: lines.length - seen.length,
        ...withoutAbsent({
          rejection: isRejected
            ? await remediesOf(record, { rules, again, now, counters, reads: reading.counters, using })
            : undefined,
          retry: await readRetry(record, reading),
          rejectionText: textThen(record, rules, using, consoleUrl),
        }),
      },
    };
  };

const termsOf = (facts: JobFacts): ExplainedTerms => {
  const { runnerClass, estimateSeconds, costMicros, microsPerMinute, priceVersion, policyVersion } = facts;
  return { runnerClass, estimateSeconds, costMicros, microsPerMinute, priceVersion, policyVersion };
};

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
  return pageText(
    {
      request: { jobId, ...withoutAbsent({ jobName: facts.asked?.jobName ?? facts.jobName }) },
      violations: [first, ...rest],
      terms: { ...termsOf(facts), currency, group },
      ...{ decisionId: decisionIdOf(record), nowMs: decidedAtMs, disclosure },
      detailsUrl: linkTo(consoleUrl, jobPagePath(jobId)),
    },
    facts.groupIds,
    policy,
  );
}

/** Lists the rules of the current policy in order, then other sources of violations: freezes, removed rules. */
function ruleRows(
  record: JobRecord,
  { policy }: EvaluationContext,
  again: ReevaluatedJob | undefined,
  now: CurrentDecision | undefined,
  using: ViolationTextContext,
): ExplainedRuleRow[] {
  const of = (id: string, all: readonly Violation[]) =>
    all.filter(({ rule }) => rule === id).map((each) => disclosedViolation(each, using));
  const recorded = [...record.violations, ...record.shadow];
  const current = [...(now?.violations ?? []), ...(now?.shadow ?? [])];
  const present = policy.rules.map(({ id, kind, mode }): ExplainedRuleRow => {
    const result = again?.results.find((each) => each.id === id);
    const rule = { id, kind, mode: result?.mode ?? mode, atDecision: of(id, recorded) };
    if (now === undefined || result === undefined) return { ...rule, whyNot: 'the question was not kept' };
    const whyNot = again?.unknownRules.get(id);
    return whyNot === undefined ? { ...rule, now: ruleNowOf(result, now, using) } : { ...rule, whyNot };
  });
  const ids = new Set(present.map(({ id }) => id));
  const others = new Set([...recorded, ...current].map(({ rule }) => rule).filter((id) => !ids.has(id)));
  return [
    ...present,
    ...[...others].map((id): ExplainedRuleRow => {
      const row = { id, atDecision: of(id, recorded) };
      const violations = of(id, current);
      return violations.length > 0
        ? { ...row, now: { outcome: 'matched', violations } }
        : { ...row, whyNot: 'no rule of the policy any more' };
    }),
  ];
}

function countersOf(record: JobRecord, claims: readonly LimitClaim[]): readonly CounterKey[] {
  const keys = [...record.claims, ...claims].map(({ counter }) => counter);
  return [...new Map(keys.map((key) => [counterName(key), key])).values()];
}

/** Lists the counters that a job claimed, or would claim now. Whole units. */
function counterLines(
  record: JobRecord,
  claims: readonly LimitClaim[],
  counters: CountersByName,
  rules: Pick<EvaluationContext, 'limits' | 'directory' | 'nowMs'>,
): readonly ExplainedCounter[] {
  const violations = [...record.violations, ...record.shadow];
  return countersOf(record, claims).flatMap((counter): ExplainedCounter[] => {
    const name = counterName(counter);
    const isOwn = (claim: RecordClaim | LimitClaim): boolean => counterName(claim.counter) === name;
    const [claimed, claim] = [record.claims.find(isOwn), claims.find(isOwn)];
    const unit = claimed?.unit ?? claim?.unit;
    if (unit === undefined) return [];
    const { subject, limit, period } = counter;
    return [
      {
        ...{ subject, label: formatSubjectLabel(subject, rules.directory ?? NOWHERE.directory) },
        ...{ limit, period, unit },
        ...withoutAbsent({ atDecision: claimed && counterThen(claimed, violations) }),
        now: counterNow(counter, claim, counters.get(name), rules),
      },
    ];
  });
}

function counterThen(claim: RecordClaim, violations: readonly Violation[]): ExplainedCounter['atDecision'] {
  const { held, counted, corrected, checked, counter } = claim;
  const then = { jobHeld: held, jobCounts: counted + corrected, checked };
  for (const { reason } of violations) {
    if (!('committed' in reason) || reason.code === 'SOFT_LIMIT') continue;
    if (reason.subject !== counter.subject || reason.limit !== counter.limit) continue;
    const { committed, limitAmount: bound, asked } = reason;
    return { ...then, seen: { committed, bound, left: bound - committed, asked } };
  }
  return then;
}

function counterNow(
  key: CounterKey,
  claim: LimitClaim | undefined,
  { committed = 0, settled = 0, fitted = 0 }: Partial<Counter> = {},
  { limits, directory, nowMs }: Pick<EvaluationContext, 'limits' | 'directory' | 'nowMs'>,
): ExplainedCounter['now'] {
  const written = limitOfCounter(key, limits, directory, nowMs);
  const limit = written && limitAt(written, nowMs);
  const { bound = limit?.amount, mode = limit?.mode } = claim ?? {};
  const { wait, whenUnreachable } = limit === undefined ? {} : writtenLimit(limit);
  return {
    settled,
    held: committed - settled,
    ...(typeof bound === 'number' && { left: bound - (mode === 'enforce' ? committed : fitted) }),
    ...withoutAbsent({ bound, mode, wait, whenUnreachable }),
  };
}

interface RejectionContext {
  readonly rules: EvaluationContext;
  readonly again: ReevaluatedJob | undefined;
  readonly now: CurrentDecision | undefined;
  readonly counters: ReadonlyMap<string, Counter>;
  readonly reads: Pick<CurrentCounters, 'fresh'>;
  readonly using: ViolationTextContext;
}

/** Each class needs a full evaluation. */
const CLASSES_TRIED_MAX = 8;
const CLASSES_SHOWN_MAX = 3;
const REQUESTABLE = /^(group|project)\/\d+$/;

type LimitReason = Extract<Reason, { readonly limitAmount: number }>;

async function remediesOf(record: JobRecord, context: RejectionContext): Promise<JobRejection | undefined> {
  const [first, ...rest] = record.violations;
  if (first === undefined) return undefined;
  const { rules, again, now, using } = context;
  const { nowMs, policy, limits, directory } = rules;
  const isSeen = (reason: Reason): boolean =>
    using.scope.seesAll || (isOfLimit(reason) && using.scope.sees(reason.subject));
  const { binding, others } = bindingFirst([first, ...rest]);
  const { reason } = binding;
  const isDisclosed = using.disclosure !== 'none' || isSeen(reason);
  const current = now?.violations ?? record.violations;
  const refused = current.flatMap((each) => (isOfLimit(each.reason) ? [each.reason] : []));
  // Only limits refuse, by an estimate: a smaller estimate may pass.
  const isEstimate = refused.length === current.length && refused.every(({ unit }) => unitRow(unit).guessed);
  const tried = now?.outcome === 'rejected' && isEstimate ? again : undefined;
  const wanted = refused.find(({ subject }) => using.scope.sees(subject) && REQUESTABLE.test(subject));
  const ofLimit = isOfLimit(reason) ? reason : undefined;
  const recipient =
    ofLimit && isDisclosed ? findRecipient(ofLimit.subject, ofLimit.limit, { limits, directory }) : undefined;
  const renewsAtMs = isDisclosed ? ofLimit?.resetsAtMs : undefined;
  const isGuessed = ofLimit !== undefined && unitRow(ofLimit.unit).guessed === true;
  return {
    says: isDisclosed ? headline(reason, { currency: policy.currency, nowMs }) : discreetHeadline(reason),
    others: [...new Set(others.map((each) => violationText(each.reason, using)))],
    advice: isGuessed ? [] : [...retryAdvice(reason, isDisclosed ? using.disclosure : 'none', nowMs)],
    ...(renewsAtMs !== undefined && renewsAtMs > nowMs && { renewsAtMs }),
    classes: tried ? await fittingClasses(record, tried, context) : [],
    ...withoutAbsent({
      owner: recipient && { name: recipient.owner, ...withoutAbsent({ contact: recipient.contact }) },
      request: wanted && grantRequestFor(wanted, rules),
    }),
  };
}

const isOfLimit = (reason: Reason): reason is LimitReason => 'limitAmount' in reason;

async function fittingClasses(
  record: JobRecord,
  { evaluation: { terms } }: ReevaluatedJob,
  { rules, counters, reads }: RejectionContext,
): Promise<JobRejection['classes']> {
  const { classes, defaultClass } = pricesAt(rules.policy.prices, rules.nowMs);
  const { runnerId: _, ...asked } = record.facts.asked ?? {};
  const tried = [...new Set([...classes, defaultClass])]
    .filter(({ tags, name }) => tags.length > 0 && name !== terms.runnerClass)
    .sort((one, other) => one.microsPerMinute - other.microsPerMinute)
    .slice(0, CLASSES_TRIED_MAX)
    .flatMap(({ name, tags }) => {
      const facts = { ...record.facts, asked: { ...asked, jobTags: tags, runnerTags: tags } };
      const other = reevaluate({ ...record, facts }, rules);
      // Another class may come first for these tags.
      const isOther = other !== undefined && other.evaluation.terms.runnerClass === name;
      return isOther && other.evaluation.terms.costMicros < terms.costMicros ? [{ name, tags, other }] : [];
    });
  const more = tried.flatMap(({ other }) => countersAsked(other.evaluation));
  const all = new Map([...counters, ...(await reads.fresh(more))]);
  return tried
    .filter(({ other }) => decideNow(other, all, rules.nowMs, record.claims).outcome === 'admitted')
    .map(({ name, tags, other }) => {
      return { runnerClass: name, tags: [...tags], costMicros: other.evaluation.terms.costMicros };
    })
    .sort((one, other) => one.costMicros - other.costMicros)
    .slice(0, CLASSES_SHOWN_MAX);
}

const REQUESTED_MS = 7 * DAY_MS;
const CENT_MICROS = 10_000;
const MICROS = 1_000_000;

function grantRequestFor(
  reason: LimitReason,
  { limits, directory, nowMs }: EvaluationContext,
): JobRejection['request'] {
  const { subject, limit: id, zone = 'UTC', resetsAtMs, asked, limitAmount } = reason;
  const limit = limitOfCounter(reason, limits, directory, nowMs);
  if (limit === undefined || limit.amount === 'unlimited') return undefined;
  const missing = ('committed' in reason ? reason.committed : 0) + asked - limitAmount;
  const { inCurrency } = unitRow(limit.unit);
  const step = inCurrency ? CENT_MICROS : (kindRow(limit.kind).perWhole ?? 1);
  const more = Math.max(step, Math.ceil(missing / step) * step);
  const untilMs = resetsAtMs === undefined ? nowMs + REQUESTED_MS : Math.max(nowMs, resetsAtMs - 1);
  return {
    ...{ subject, label: formatSubjectLabel(subject, directory ?? NOWHERE.directory) },
    ...{ limit: id, unit: limit.unit },
    amount: inCurrency ? (more / MICROS).toFixed(2) : writtenUnits(more, limit.kind),
    fromDay: writtenDay(nowMs, zone),
    untilDay: writtenDay(untilMs, zone),
  };
}
