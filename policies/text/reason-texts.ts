import { STATELESS_TEXTS } from '../kinds/kinds.ts';
import type { Reason, ReasonOf } from '../reason.ts';
import type { ReasonText } from './reason-text.ts';
import { breakGlass } from './reasons/break-glass.ts';
import { budgetExhausted } from './reasons/budget.ts';
import { exceedsLimitAlone, softLimit } from './reasons/limits.ts';
import { capacityFull, concurrencyFull, windowFull } from './reasons/quotas.ts';
import { controllerError, fieldMissing } from './reasons/system.ts';

const OWN_TEXTS = {
  BUDGET_EXHAUSTED: budgetExhausted,
  CONCURRENCY_FULL: concurrencyFull,
  CAPACITY_FULL: capacityFull,
  WINDOW_FULL: windowFull,
  SOFT_LIMIT: softLimit,
  EXCEEDS_LIMIT_ALONE: exceedsLimitAlone,
  BREAK_GLASS: breakGlass,
  FIELD_MISSING: fieldMissing,
  CONTROLLER_ERROR: controllerError,
};

/** Marked as pure so that a bundle which tells no reasons leaves them out. */
export const REASON_TEXTS: { readonly [Code in Reason['code']]: ReasonText<ReasonOf<Code>> } =
  /* @__PURE__ */ Object.assign({}, OWN_TEXTS, STATELESS_TEXTS);

/** The texts for a reason. They are methods, whose parameters TypeScript compares loosely: give them this reason only. */
export const textsFor = (reason: Reason): ReasonText<Reason> => REASON_TEXTS[reason.code];
