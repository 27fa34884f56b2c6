import { STATELESS_TEXTS } from '../kinds/kinds.ts';
import type { CodedReason, Reason, Violation } from '../reason.ts';
import { limitLabelOf, limitName } from '../unit-texts.ts';
import * as limits from './limit-texts.ts';
import { cutLine, plain } from './plain-text.ts';
import type { Disclosure, HeadlineContext, ReasonText } from './reason-text.ts';
import { controllerError, fieldMissing } from './system-texts.ts';

const OWN_TEXTS = {
  BUDGET_EXHAUSTED: limits.budgetExhausted,
  CONCURRENCY_FULL: limits.concurrencyFull,
  CAPACITY_FULL: limits.capacityFull,
  WINDOW_FULL: limits.windowFull,
  SOFT_LIMIT: limits.softLimit,
  EXCEEDS_LIMIT_ALONE: limits.exceedsLimitAlone,
  BREAK_GLASS: limits.breakGlass,
  FIELD_MISSING: fieldMissing,
  CONTROLLER_ERROR: controllerError,
};

/** Marked as pure, so that bundles without texts leave it out. */
export const REASON_TEXTS: { readonly [Code in Reason['code']]: ReasonText<CodedReason<Code>> } =
  /* @__PURE__ */ Object.assign({}, OWN_TEXTS, STATELESS_TEXTS);

export const textsFor = (reason: Reason): ReasonText<Reason> => REASON_TEXTS[reason.code];

export const headline = (reason: Reason, context: HeadlineContext): string =>
  cutLine(textsFor(reason).headline(reason, context));

export const discreetHeadline = (reason: Reason): string => {
  const texts = textsFor(reason);
  return cutLine(texts.discreetHeadline?.(reason) ?? texts.headline(reason, { currency: '', nowMs: 0 }));
};

export const reasonLine = (reason: Reason, currency: string): string =>
  plain(textsFor(reason).line(reason, currency));

export const discreetReasonLine = (reason: Reason, currency: string): string =>
  'limitAmount' in reason ? `${limitLabelOf(reason)}: ${limitName(reason)}` : reasonLine(reason, currency);

export const retryAdvice = (reason: Reason, disclosure: Disclosure, nowMs: number): readonly string[] =>
  textsFor(reason).advice(reason, { disclosure, nowMs }).map(plain);

const HARDNESS: Readonly<Partial<Record<Reason['code'], number>>> = {
  FIELD_MISSING: 5,
  EXCEEDS_LIMIT_ALONE: 4,
  // These open at a time; the one that opens last binds.
  GROUP_FROZEN: 3,
  BUDGET_EXHAUSTED: 3,
  WINDOW_FULL: 3,
  CONTROLLER_ERROR: 2,
  CAPACITY_FULL: 1,
  CONCURRENCY_FULL: 1,
  SOFT_LIMIT: 0,
  BREAK_GLASS: 0,
};
/** No wait helps against any other reason: the job has to be changed. */
const HARDEST = 6;

const hardnessOf = ({ code }: Reason): number => HARDNESS[code] ?? HARDEST;

export function bindingFirst(violations: readonly [Violation, ...Violation[]]): {
  readonly binding: Violation;
  readonly others: readonly Violation[];
} {
  let [binding] = violations;
  for (const each of violations) if (isHarder(each.reason, binding.reason)) binding = each;
  return { binding, others: violations.filter((each) => each !== binding) };
}

function isHarder(one: Reason, other: Reason): boolean {
  const [hardness, than] = [hardnessOf(one), hardnessOf(other)];
  if (hardness !== than) return hardness > than;
  return opensAtMs(one) > opensAtMs(other);
}

/** A reason without a time does not end on its own. */
function opensAtMs(reason: Reason): number {
  if (reason.code === 'GROUP_FROZEN') return reason.untilMs ?? Number.POSITIVE_INFINITY;
  return 'limitAmount' in reason ? (reason.resetsAtMs ?? Number.POSITIVE_INFINITY) : 0;
}
