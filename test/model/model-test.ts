import fc from 'fast-check';
import { test } from 'vitest';
import { propertyRuns } from '../support/property-runs.ts';
import { type Flavour, plans } from './plans.ts';
import { run } from './run.ts';

/** Per flavour; a failing run is told with its seed and path, shrunk to the actions that matter. */
const RUNS = 800;
/** On a machine that has other things to do. */
const TIMEOUT_MS = 240_000;

/** The same plans every time, so that main is as green tomorrow as today; another number looks at others. */
const SEED = Number(process.env.TOLLGATE_TEST_SEED ?? 1);

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
