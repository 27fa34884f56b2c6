import type { EvaluationContext } from '../../../policies/evaluate.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { limitOfCounter } from '../../../policies/limits/limits.ts';
import { pricesAt, type RunnerClass } from '../../../policies/prices/price.ts';
import type { Reason } from '../../../policies/reason.ts';
import { writtenDay } from '../../../policies/text/edge-text.ts';
import {
  bindingFirst,
  discreetHeadline,
  headline,
  retryAdvice,
} from '../../../policies/text/reason-texts.ts';
import { kindRow, unitRow, writtenUnits } from '../../../policies/units/unit.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import {
  type CountersNow,
  type CurrentDecision,
  countersAsked,
  decideNow,
} from '../../core/admission/index.ts';
import type { Counter, JobRecord } from '../../core/ledger/index.ts';
import { findRecipient } from '../../core/notify/recipient.ts';
import { NOWHERE, subjectLabelOf } from '../reading/scope.ts';
import { askAgain, type ReevaluatedJob } from './asked-again.ts';
import { type CounterReader, readNamed } from './counters-read.ts';
import { type ViolationTextContext, violationText } from './disclosed-violation.ts';
import type { JobRejection } from './model.ts';

interface WaysContext {
  readonly rules: EvaluationContext;
  readonly again: ReevaluatedJob | undefined;
  /** The decision on it now; absent like `again`. */
  readonly now: CurrentDecision | undefined;
  /** As read now, by `counterName`. */
  readonly counters: ReadonlyMap<string, Counter>;
  readonly read: CounterReader;
  readonly tell: ViolationTextContext;
}

/** Each class needs a full evaluation. */
const CLASSES_TRIED_MAX = 8;
const CLASSES_SHOWN_MAX = 3;

type LimitReason = Extract<Reason, { readonly limitAmount: number }>;

/**
 * Explains a rejection with remedies, by today's rules, limits and counters. Undefined: the job was not
 * rejected.
 */
export async function waysOn(record: JobRecord, using: WaysContext): Promise<JobRejection | undefined> {
  const [first, ...rest] = record.violations;
  if (first === undefined) return undefined;
  const { rules, again, now, tell } = using;
  const { nowMs } = rules;
  const { currency } = rules.policy;
  const { binding, others } = bindingFirst([first, ...rest]);
  const stillRejecting = now?.violations ?? record.violations;
  const refused = stillRejecting.flatMap(({ reason }) => (isOfLimit(reason) ? [reason] : []));
  const { reason } = binding;
  const isTold = tell.disclosure !== 'none' || isSeen(reason, tell);
  // Only limits are in the way, and a guess at what the job needs: a smaller guess may pass.
  const isGuess =
    refused.length === stillRejecting.length && refused.every(({ unit }) => unitRow(unit).guessed);
  const tries = again !== undefined && now?.outcome === 'rejected' && isGuess;
  const timeoutSeconds =
    tries && mayTellRoom(refused, tell) ? fittingTimeout(record, again, using) : undefined;
  const renewsAtMs = isOfLimit(reason) && isTold ? reason.resetsAtMs : undefined;
  const isGuessed = isOfLimit(reason) && unitRow(reason.unit).guessed === true;
  const asked = refused.find((each) => tell.scope.sees(each.subject) && ASKABLE.test(each.subject));
  return {
    says: isTold ? headline(reason, { currency, nowMs }) : discreetHeadline(reason),
    others: [...new Set(others.map((each) => violationText(each.reason, tell)))],
    advice: isGuessed ? [] : [...retryAdvice(reason, isTold ? tell.disclosure : 'none', nowMs)],
    ...(renewsAtMs !== undefined && renewsAtMs > nowMs && { renewsAtMs }),
    ...(isOfLimit(reason) && isTold && { owner: ownerOf(reason, rules) }),
    classes: tries ? await fittingClasses(record, again, using) : [],
    ...withoutAbsent({ timeoutSeconds, request: asked && requestFor(asked, rules, nowMs) }),
  };
}

const ASKABLE = /^(group|project)\/\d+$/;

const isOfLimit = (reason: Reason): reason is LimitReason => 'limitAmount' in reason;

const isSeen = (reason: Reason, { scope }: ViolationTextContext): boolean =>
  scope.seesAll || (isOfLimit(reason) && scope.sees(reason.subject));

/** A fitting timeout reveals the remaining amount. */
const mayTellRoom = (refused: readonly LimitReason[], tell: ViolationTextContext): boolean =>
  tell.disclosure === 'all' || refused.every((reason) => isSeen(reason, tell));

function ownerOf({ subject, limit }: LimitReason, { limits, directory }: EvaluationContext) {
  const { owner, contact } = findRecipient(subject, limit, { limits, directory });
  return { name: owner, ...withoutAbsent({ contact }) };
}

/** The longest timeout in whole minutes with which it would be admitted; what it takes only grows with it. */
function fittingTimeout(record: JobRecord, again: ReevaluatedJob, using: WaysContext): number | undefined {
  const fits = (minutes: number): boolean => {
    const other = askAgain(withFacts(record, { timeoutSeconds: minutes * 60 }), using.rules);
    return other !== undefined && isAdmitted(other, record, using.counters, using.rules);
  };
  let [most, tooLong] = [0, Math.ceil(again.evaluation.terms.estimateSeconds / 60)];
  while (most + 1 < tooLong) {
    const between = Math.floor((most + tooLong) / 2);
    if (fits(between)) most = between;
    else tooLong = between;
  }
  return most === 0 ? undefined : most * 60;
}

const isAdmitted = (
  job: ReevaluatedJob,
  { claims }: JobRecord,
  counters: CountersNow,
  { nowMs }: EvaluationContext,
): boolean => decideNow(job, counters, nowMs, claims).outcome === 'admitted';

/** Cheaper classes with which it would be admitted, cheapest first. */
async function fittingClasses(
  record: JobRecord,
  { evaluation: { terms } }: ReevaluatedJob,
  { rules, counters, read }: WaysContext,
): Promise<JobRejection['classes']> {
  const { classes, defaultClass } = pricesAt(rules.policy.prices, rules.nowMs);
  const tried = [...new Set([...classes, defaultClass])]
    .filter(({ tags, name }) => tags.length > 0 && name !== terms.runnerClass)
    .sort((one, other) => one.microsPerMinute - other.microsPerMinute)
    .slice(0, CLASSES_TRIED_MAX)
    .flatMap((runnerClass) => {
      const other = askAgain(withTags(record, runnerClass), rules);
      // Another class may come first for these tags.
      if (other === undefined || other.evaluation.terms.runnerClass !== runnerClass.name) return [];
      return other.evaluation.terms.costMicros < terms.costMicros ? [{ runnerClass, other }] : [];
    });
  const more = tried.flatMap(({ other }) => countersAsked(other.evaluation));
  const all = new Map([...counters, ...(await readNamed(more, read, counters))]);
  return tried
    .filter(({ other }) => isAdmitted(other, record, all, rules))
    .map(({ runnerClass: { name, tags }, other: { evaluation } }) => ({
      ...{ runnerClass: name, tags: [...tags] },
      microsPerMinute: evaluation.facts.microsPerMinute,
      costMicros: evaluation.terms.costMicros,
    }))
    .sort((one, other) => one.costMicros - other.costMicros)
    .slice(0, CLASSES_SHOWN_MAX);
}

function withTags(record: JobRecord, { tags }: RunnerClass): JobRecord {
  const { runnerId: _, ...asked } = record.facts.asked ?? {};
  return withFacts(record, { asked: { ...asked, jobTags: tags, runnerTags: tags } });
}

function withFacts(record: JobRecord, changed: Partial<JobRecord['facts']>): JobRecord {
  const facts = { ...record.facts, ...changed };
  const { asked } = facts;
  if (asked === undefined || changed.timeoutSeconds === undefined) return { ...record, facts };
  const filled = (asked.filled ?? []).filter((each) => each !== 'timeoutSeconds');
  return { ...record, facts: { ...facts, asked: { ...asked, filled } } };
}

/** So much more as is missing, until the period ends. */
function requestFor(
  reason: LimitReason,
  { limits, directory }: EvaluationContext,
  nowMs: number,
): JobRejection['request'] {
  const { subject, limit: id, zone = 'UTC', resetsAtMs, asked, limitAmount } = reason;
  const limit = limitOfCounter(reason, limits, directory, nowMs);
  if (limit === undefined || limit.amount === 'unlimited') return undefined;
  const missing = ('committed' in reason ? reason.committed : 0) + asked - limitAmount;
  const { inCurrency } = unitRow(limit.unit);
  const step = inCurrency ? CENT_MICROS : (kindRow(limit.kind).perWhole ?? 1);
  const more = Math.max(step, Math.ceil(missing / step) * step);
  return {
    subject,
    label: subjectLabelOf(subject, directory ?? NOWHERE.directory),
    limit: id,
    unit: limit.unit,
    amount: inCurrency ? (more / MICROS).toFixed(2) : writtenUnits(more, limit.kind),
    fromDay: writtenDay(nowMs, zone),
    untilDay: writtenDay(
      resetsAtMs === undefined ? nowMs + ASKED_FOR_MS : Math.max(nowMs, resetsAtMs - 1),
      zone,
    ),
  };
}

/** Used for limits without a period. */
const ASKED_FOR_MS = 7 * DAY_MS;
/** To the cent: what people write. */
const CENT_MICROS = 10_000;
const MICROS = 1_000_000;
