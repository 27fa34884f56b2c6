import type { Reason } from '../reason.ts';
import type { ReasonText, Told } from './reason-text.ts';
import { runnerScope, timeoutTooLong } from './reasons/access.ts';
import { breakGlass } from './reasons/break-glass.ts';
import { budgetExhausted } from './reasons/budget.ts';
import { containerUserNotAllowed } from './reasons/container-user.ts';
import { groupFrozen } from './reasons/freeze.ts';
import {
  imageNotAllowed,
  privilegedDenied,
  pullPolicyNotAllowed,
  serviceLimit,
  tagNotAllowed,
} from './reasons/images.ts';
import { exceedsLimitAlone, softLimit } from './reasons/limits.ts';
import { capacityFull, concurrencyFull, windowFull } from './reasons/quotas.ts';
import { controllerError, fieldMissing } from './reasons/system.ts';
import { variableNotAllowed } from './reasons/variable-values.ts';
import { overwriteNotAllowed, resourceCap, resourceInvalid } from './reasons/variables.ts';

export const REASON_TEXTS: { readonly [Code in Reason['code']]: ReasonText<Told<Code>> } = {
  BUDGET_EXHAUSTED: budgetExhausted,
  CONCURRENCY_FULL: concurrencyFull,
  CAPACITY_FULL: capacityFull,
  WINDOW_FULL: windowFull,
  SOFT_LIMIT: softLimit,
  EXCEEDS_LIMIT_ALONE: exceedsLimitAlone,
  IMAGE_NOT_ALLOWED: imageNotAllowed,
  TAG_NOT_ALLOWED: tagNotAllowed,
  SERVICE_LIMIT: serviceLimit,
  PRIVILEGED_DENIED: privilegedDenied,
  PULL_POLICY_NOT_ALLOWED: pullPolicyNotAllowed,
  RESOURCE_CAP: resourceCap,
  RESOURCE_INVALID: resourceInvalid,
  OVERWRITE_NOT_ALLOWED: overwriteNotAllowed,
  VARIABLE_NOT_ALLOWED: variableNotAllowed,
  CONTAINER_USER_NOT_ALLOWED: containerUserNotAllowed,
  TIMEOUT_TOO_LONG: timeoutTooLong,
  RUNNER_SCOPE: runnerScope,
  GROUP_FROZEN: groupFrozen,
  BREAK_GLASS: breakGlass,
  FIELD_MISSING: fieldMissing,
  CONTROLLER_ERROR: controllerError,
};

/** The texts for a reason. They are methods, whose parameters TypeScript compares loosely: give them this reason only. */
export const textsFor = (reason: Reason): ReasonText<Reason> => REASON_TEXTS[reason.code];
