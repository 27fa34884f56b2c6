/** Explains a rejection with remedies, by current rules, limits and counters. */
import type { EvaluationContext } from '../../../policies/evaluate.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { limitOfCounter } from '../../../policies/limits/limits.ts';
import { pricesAt } from '../../../policies/price.ts';
import type { Reason } from '../../../policies/reason.ts';
import { writtenDay } from '../../../policies/text/edge-text.ts';
import {
  bindingFirst,
  discreetHeadline,
  headline,
  retryAdvice,
} from '../../../policies/text/reason-texts.ts';
import { kindRow, unitRow, writtenUnits } from '../../../policies/unit.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { type CurrentDecision, countersAsked, decideNow } from '../../core/admission/judge.ts';
import type { Counter, JobRecord } from '../../core/ledger/ledger.ts';
import { findRecipient } from '../../core/notify/recipient.ts';
import type { CurrentCounters } from '../reading/counters-now.ts';
import { NOWHERE, subjectLabelOf } from '../reading/scope.ts';
import { type ViolationTextContext, violationText } from './decision-lines.ts';
import type { JobRejection } from './model.ts';
import { type ReevaluatedJob, reevaluate } from './rule-results.ts';

interface RejectionContext {
  readonly rules: EvaluationContext;
  readonly again: ReevaluatedJob | undefined;
  readonly now: CurrentDecision | undefined;
  readonly counters: ReadonlyMap<string, Counter>;
  readonly kept: Pick<CurrentCounters, 'fresh'>;
  readonly using: ViolationTextContext;
}

/** Each class needs a full evaluation. */
const CLASSES_TRIED_MAX = 8;
const CLASSES_SHOWN_MAX = 3;
const REQUESTABLE = /^(group|project)\/\d+$/;

type LimitReason = Extract<Reason, { readonly limitAmount: number }>;

export async function remediesOf(
  record: JobRecord,
  context: RejectionContext,
): Promise<JobRejection | undefined> {
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
  { rules, counters, kept }: RejectionContext,
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
  const all = new Map([...counters, ...(await kept.fresh(more))]);
  return tried
    .filter(({ other }) => decideNow(other, all, rules.nowMs, record.claims).outcome === 'admitted')
    .map(({ name, tags, other: { evaluation } }) => ({
      ...{ runnerClass: name, tags: [...tags], costMicros: evaluation.terms.costMicros },
    }))
    .sort((one, other) => one.costMicros - other.costMicros)
    .slice(0, CLASSES_SHOWN_MAX);
}

const REQUESTED_MS = 7 * DAY_MS;
/** Amounts are requested in whole cents. */
const CENT_MICROS = 10_000;
const MICROS = 1_000_000;

/** Requests the missing amount until the period ends. */
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
    ...{ subject, label: subjectLabelOf(subject, directory ?? NOWHERE.directory) },
    ...{ limit: id, unit: limit.unit },
    amount: inCurrency ? (more / MICROS).toFixed(2) : writtenUnits(more, limit.kind),
    fromDay: writtenDay(nowMs, zone),
    untilDay: writtenDay(untilMs, zone),
  };
}
