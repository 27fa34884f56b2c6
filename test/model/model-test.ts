import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { test } from 'vitest';
import { FULL, propertyRuns } from '../support/property-runs.ts';
import { type Flavour, plans } from './plans.ts';
import { run } from './run.ts';

/** Per flavour; a failing run is told with its seed and path, shrunk to the actions that matter. */
const RUNS = 800;
/** On a machine that has other things to do. */
const TIMEOUT_MS = 600_000;

/** A commit always draws the same plans, so that main is as green tomorrow as today; in full, each commit draws others. */
const SEED = Number(process.env.TOLLGATE_TEST_SEED ?? (FULL ? seedOfCommit() : 1));

function seedOfCommit(): number {
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8', timeout: 10_000 });
  return Number.parseInt(commit.slice(0, 7), 16);
}

export const modelTest = (guarantee: string, flavour: Flavour): void =>
  test(
    guarantee,
    async () => {
      await fc.assert(
        fc.asyncProperty(plans(flavour), async (plan) => void (await run(plan))),
        { numRuns: propertyRuns(RUNS), seed: SEED },
      );
    },
    TIMEOUT_MS,
  );
