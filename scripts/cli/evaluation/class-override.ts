import { closest } from '../../../policies/document/reading.ts';
import type { Policy } from '../../../policies/policy.ts';
import { pricesAt, type RunnerClass } from '../../../policies/prices/price.ts';
import { UsageError } from '../../terminal/command.ts';

interface ChosenClass {
  /** Every job is of the class. */
  readonly policy: Policy;
  readonly runnerClass: RunnerClass;
}

/**
 * The policy as if all runners were of one class, at the prices in force at an instant: ask it about no other.
 *
 * @throws {UsageError} if there is no such class then.
 */
export function withClass(policy: Policy, name: string, nowMs: number): ChosenClass {
  const { version, classes } = pricesAt(policy.prices, nowMs);
  const runnerClass = classes.find((each) => each.name === name);
  if (runnerClass === undefined) {
    const names = classes.map((each) => each.name);
    const like = closest(name, names);
    const hint = like === undefined ? `expected ${names.join(', ')}` : `did you mean ${like}?`;
    throw new UsageError(`--class ${name}: is no runner class of the policy (prices ${version}); ${hint}`);
  }
  return {
    runnerClass,
    policy: {
      ...policy,
      prices: { version, classes: [], defaultClass: runnerClass },
    },
  };
}
