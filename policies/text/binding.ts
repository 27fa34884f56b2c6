import type { Reason, Violation } from '../reason.ts';

/** What has to give way before the job can run, hardest first: of several reasons the first line tells this one. */
const HARDNESS: Readonly<Record<Reason['code'], number>> = {
  IMAGE_NOT_ALLOWED: 5,
  FIELD_MISSING: 4,
  EXCEEDS_LIMIT_ALONE: 3,
  BUDGET_EXHAUSTED: 2,
  CONTROLLER_ERROR: 1,
  CONCURRENCY_FULL: 0,
};

/** The violation that binds, and the others in their order. Of several budgets the one that opens last binds. */
export function bindingFirst(violations: readonly [Violation, ...Violation[]]): {
  readonly binding: Violation;
  readonly others: readonly Violation[];
} {
  let [binding] = violations;
  for (const each of violations) if (compare(each.reason, binding.reason) > 0) binding = each;
  return { binding, others: violations.filter((each) => each !== binding) };
}

const compare = (one: Reason, other: Reason): number =>
  HARDNESS[one.code] - HARDNESS[other.code] ||
  opensAtMs(one) - opensAtMs(other) ||
  missing(one) - missing(other);

const opensAtMs = (reason: Reason): number => ('resetsAtMs' in reason ? reason.resetsAtMs : 0) ?? 0;

const missing = (reason: Reason): number =>
  'committed' in reason ? reason.committed + reason.asked - reason.limitAmount : 0;
