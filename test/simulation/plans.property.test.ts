/** Short plans of actions, faults and deaths (plan.ts); a failing one is reported with its seed and path, shrunk. */
import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { test } from 'vitest';
import { FULL } from '../support/property-runs.ts';
import { plans } from './plan.ts';
import { run } from './run.ts';

const RUNS = FULL ? 800 : 80;
const TIMEOUT_MS = 600_000;

/** A commit always draws the same plans, so that main stays green; in full, each commit draws others. */
const SEED = Number(process.env.TOLLGATE_TEST_SEED ?? (FULL ? seedOfCommit() : 1));

function seedOfCommit(): number {
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8', timeout: 10_000 });
  return Number.parseInt(commit.slice(0, 7), 16);
}

test.each([
  {
    trouble: 'webhooks come in any order, late, twice or never, and GitLab is away',
    flavour: { together: 2, edits: 1, outages: 2, faults: 0, deaths: 0 },
  },
  {
    trouble: 'the table fails and programs die between any two steps',
    flavour: { together: 1, edits: 0, outages: 1, faults: 1, deaths: 2 },
  },
  {
    trouble: 'two relays, two sweeps and settlement meet at the same jobs',
    flavour: { together: 12, edits: 1, outages: 1, faults: 1, deaths: 1 },
  },
  {
    trouble: 'prices, limits, grants, groups and clocks change and periods end',
    flavour: { together: 2, edits: 3, outages: 1, faults: 1, deaths: 1 },
  },
])(
  'at the end nothing is held and every run is charged by the rules of its admission, though $trouble',
  async ({ flavour }) => {
    await fc.assert(
      fc.asyncProperty(plans(flavour), async (plan) => void (await run(plan))),
      { numRuns: RUNS, seed: SEED },
    );
  },
  TIMEOUT_MS,
);
