import { expect, test } from 'vitest';
import {
  expectEqual,
  NotPossibleError,
  runSteps,
  type Step,
  type StepResult,
} from '../../../../scripts/proof/rehearse/step.ts';

const passing: Step<number> = { name: 'passes', run: async (context) => `saw ${context}` };
const failing: Step<number> = {
  name: 'fails',
  run: async () => {
    expectEqual('the answer', 41, 42);
    return 'never';
  },
};
const impossible: Step<number> = {
  name: 'is not possible',
  run: async () => {
    throw new NotPossibleError('there is no Java here');
  },
};

async function outcomes(...steps: readonly Step<number>[]): Promise<readonly string[]> {
  const told: StepResult[] = [];
  let nowMs = 0;
  const results = await runSteps(steps, 7, { nowMs: () => nowMs++, onResult: (result) => told.push(result) });
  expect(told).toEqual(results);
  return results.map(({ outcome, detail }) => `${outcome}: ${detail}`);
}

test('after a failure nothing more is tried, and it says what was there instead', async () => {
  expect(await outcomes(passing, failing, passing)).toEqual([
    'passed: saw 7',
    'failed: the answer is 41; expected 42',
  ]);
});

test('what is not possible here is told as that, and the rest goes on', async () => {
  expect(await outcomes(impossible, passing)).toEqual([
    'not_possible: there is no Java here',
    'passed: saw 7',
  ]);
});
