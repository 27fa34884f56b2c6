import { closest } from '../../../policies/document/closest.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { RunnerClass } from '../../../policies/price.ts';
import { UsageError } from '../command.ts';

export interface ChosenClass {
  /** Every job is of the class. */
  readonly policy: Policy;
  readonly runnerClass: RunnerClass;
}

/** The policy as if all runners were of one class. @throws {UsageError} if there is no such class. */
export function withClass(policy: Policy, name: string): ChosenClass {
  const classes = policy.prices.classes;
  const runnerClass = classes.find((each) => each.name === name);
  if (runnerClass === undefined) {
    const names = classes.map((each) => each.name);
    const like = closest(name, names);
    const hint = like === undefined ? `expected ${names.join(', ')}` : `did you mean ${like}?`;
    throw new UsageError(`--class ${name}: is no runner class of the policy; ${hint}`);
  }
  return {
    runnerClass,
    policy: {
      ...policy,
      prices: { version: policy.prices.version, classes: [], defaultClass: runnerClass },
    },
  };
}
