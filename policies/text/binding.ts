import type { Reason, Violation } from '../reason.ts';
import { OBSTACLES } from './reason-text.ts';
import { textsFor } from './reason-texts.ts';

const hardnessOf = (reason: Reason): number => OBSTACLES.indexOf(textsFor(reason).obstacle);

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
