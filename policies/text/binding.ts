import type { Reason, Violation } from '../reason.ts';

/** What has to give way before the job can run, hardest first: the first line tells this one of several reasons. */
const HARDNESS: Readonly<Partial<Record<Reason['code'], number>>> = {
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
/** No wait helps against any other reason: the job has to be changed. */
const HARDEST = 6;

const hardnessOf = ({ code }: Reason): number => HARDNESS[code] ?? HARDEST;

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
  const [hardness, than] = [hardnessOf(one), hardnessOf(other)];
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
