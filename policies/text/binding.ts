import type { Reason, Violation } from '../reason.ts';

/** What has to give way before the job can run, hardest first: the first line tells this one of several reasons. */
const HARDNESS: Readonly<Record<Reason['code'], number>> = {
  // No wait helps: the job has to be changed.
  IMAGE_NOT_ALLOWED: 6,
  TAG_NOT_ALLOWED: 6,
  SERVICE_LIMIT: 6,
  PRIVILEGED_DENIED: 6,
  PULL_POLICY_NOT_ALLOWED: 6,
  RESOURCE_CAP: 6,
  RESOURCE_INVALID: 6,
  OVERWRITE_NOT_ALLOWED: 6,
  VARIABLE_NOT_ALLOWED: 6,
  CONTAINER_USER_NOT_ALLOWED: 6,
  TIMEOUT_TOO_LONG: 6,
  RUNNER_SCOPE: 6,
  FIELD_MISSING: 5,
  EXCEEDS_LIMIT_ALONE: 4,
  // These open at a time; the one that opens last binds.
  GROUP_FROZEN: 3,
  BUDGET_EXHAUSTED: 3,
  WINDOW_FULL: 3,
  CONTROLLER_ERROR: 2,
  // These open when other jobs end.
  CAPACITY_FULL: 1,
  CONCURRENCY_FULL: 1,
  SOFT_LIMIT: 0,
  BREAK_GLASS: 0,
};

/** The violation that binds, and the others in their order. */
export function bindingFirst(violations: readonly [Violation, ...Violation[]]): {
  readonly binding: Violation;
  readonly others: readonly Violation[];
} {
  let [binding] = violations;
  for (const each of violations) if (isHarder(each.reason, binding.reason)) binding = each;
  return { binding, others: violations.filter((each) => each !== binding) };
}

function isHarder(one: Reason, other: Reason): boolean {
  const [hardness, than] = [HARDNESS[one.code], HARDNESS[other.code]];
  if (hardness !== than) return hardness > than;
  const [opens, before] = [opensAtMs(one), opensAtMs(other)];
  return opens === before ? missing(one) > missing(other) : opens > before;
}

/** A reason without a time does not open by itself. */
function opensAtMs(reason: Reason): number {
  if (reason.code === 'GROUP_FROZEN') return reason.untilMs ?? Number.POSITIVE_INFINITY;
  return 'limitAmount' in reason ? (reason.resetsAtMs ?? Number.POSITIVE_INFINITY) : 0;
}

const missing = (reason: Reason): number =>
  'committed' in reason ? reason.committed + reason.asked - reason.limitAmount : 0;
