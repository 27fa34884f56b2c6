import { STATELESS_TEXTS } from '../kinds/kinds.ts';
import type { Reason, ReasonOf } from '../reason.ts';
import type { ReasonText } from './reason-text.ts';
import { breakGlass } from './reasons/break-glass.ts';
import { budgetExhausted } from './reasons/budget.ts';
import { exceedsLimitAlone, softLimit } from './reasons/limits.ts';
import { capacityFull, concurrencyFull, windowFull } from './reasons/quotas.ts';
import { controllerError, fieldMissing } from './reasons/system.ts';

export const REASON_TEXTS: { readonly [Code in Reason['code']]: ReasonText<ReasonOf<Code>> } = {
  BUDGET_EXHAUSTED: budgetExhausted,
  CONCURRENCY_FULL: concurrencyFull,
  CAPACITY_FULL: capacityFull,
  WINDOW_FULL: windowFull,
  SOFT_LIMIT: softLimit,
  EXCEEDS_LIMIT_ALONE: exceedsLimitAlone,
  ...STATELESS_TEXTS,
  BREAK_GLASS: breakGlass,
  FIELD_MISSING: fieldMissing,
  CONTROLLER_ERROR: controllerError,
};

/** The texts for a reason. They are methods, whose parameters TypeScript compares loosely: give them this reason only. */
export const textsFor = (reason: Reason): ReasonText<Reason> => REASON_TEXTS[reason.code];
