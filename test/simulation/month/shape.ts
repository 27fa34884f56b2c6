/**
 * The workload of the simulated month: every number that shapes it stands in this file, and was fixed before any
 * estimator was tuned on it. The same seed gives the same month.
 */
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import type { PriceVersion } from '../rulebook/rule-set.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** November 2026 in Berlin, which has no daylight saving then: one offset for the whole month. */
export const ZONE = 'Europe/Berlin';
/** Some days end at nine in the morning, and on the first of them clocks there go back an hour. */
export const ZONE_OF_LATE_DAYS = 'America/Los_Angeles';
/** Some months and a fiscal year end at noon: a busy hour, in the middle of a Monday. */
export const ZONE_OF_EARLY_ENDS = 'Pacific/Auckland';
export const FISCAL_START = '11-17';
export const MONTH_START_MS = Date.UTC(2026, 9, 31, 23);
export const MONTH_DAYS = 30;
export const MONTH_END_MS = MONTH_START_MS + MONTH_DAYS * DAY_MS;
const at = (day: number, hour: number): number => MONTH_START_MS + (day - 1) * DAY_MS + hour * HOUR_MS;

export const SHAPE = {
  seed: 20_261_101,
  jobs: 200_000,
  groupsByLevel: [10, 40, 150],
  projects: 400,
} as const;

export interface WorkloadShape {
  readonly seed: number;
  readonly jobs: number;
  readonly groupsByLevel: readonly [roots: number, middle: number, leaves: number];
  readonly projects: number;
}

export const PROJECT_WEIGHT_POWER = -0.7;

export const PROJECT_SIGMA = 0.6;

/** Micro-units a minute. Prices change twice, while many jobs run. */
export const SIMULATED_PRICES: readonly PriceVersion[] = [
  { version: '2026-11', fromMs: MONTH_START_MS, rates: { small: 12_500, medium: 25_000, large: 60_000 } },
  { version: '2026-11-16', fromMs: at(16, 10), rates: { small: 13_700, medium: 31_300, large: 52_000 } },
  { version: '2026-11-23', fromMs: at(23, 14), rates: { small: 11_900, medium: 27_000, large: 64_007 } },
];
export const RUNNER_CLASSES = ['small', 'medium', 'large'] as const;
/** Several of each class, so that lists stay short, as they do in a fleet. */
export const RUNNERS_PER_CLASS = 4;

export const ESTIMATE_DEFAULT_SECONDS = 600;

export const QUEUE_MS = { least: 1_000, most: 15_000 } as const;

export const TROUBLE = {
  lostEnd: 0.05,
  repeatedEnd: 0.01,
  reordered: 0.02,
  bypass: 0.005,
  routerFailure: 0.003,
  canceledBeforeStart: 0.005,
  /** Its project was deleted: no event, and GitLab answers 404. */
  vanished: 0.0002,
  askedAgain: 0.1,
} as const;

/** Between two questions about one job, ms: half of them while a rejection stands, half when it stands no more. */
export const ASKED_AGAIN_MS = [
  { least: 2_000, most: 45_000 },
  { least: 75_000, most: 105_000 },
] as const;

export const DELAY_MS = { usual: 3_000, reordered: 20 * MINUTE_MS, repeated: 2 * HOUR_MS } as const;

/** GitLab is away: no questions, no events, no REST. Their requests come within an hour afterwards. */
export const OUTAGE = { fromMs: at(18, 9), untilMs: at(18, 15), backlogMs: HOUR_MS } as const;
/** The ledger's table does not answer: the relays' fallback admits, and posts it later. */
export const TABLE_SILENT = { fromMs: at(24, 14), untilMs: at(24, 14) + 10 * MINUTE_MS } as const;
/** Each relay dies once with a batch in flight: the first time after its transaction, the second time with it. */
export const RELAY_KILLS = [
  { relay: 0, atMs: at(10, 10), backMs: at(10, 10) + 2 * MINUTE_MS },
  { relay: 1, atMs: at(12, 14), backMs: at(12, 14) + 2 * MINUTE_MS },
] as const;
export const TABLE_FAULTS = { conflict: 0.002, throttle: 0.001, lostAnswer: 0.0005 } as const;

/** The table's stream to the rollup: images in a batch, shares of batches that come twice and of commits that go wrong. */
export const STREAM = { batchImages: 100, repeated: 0.02, contended: 0.01, lost: 0.005 } as const;

/** Budgets as shares of what the level's jobs would cost in the month, were all of them admitted: below 1 runs out. */
export const BUDGET_SHARE = {
  root: { least: 0.9, most: 1.6 },
  middle: { least: 0.8, most: 1.8 },
  leaf: { least: 0.6, most: 2.4 },
  middleDay: { least: 1.1, most: 2.5, chance: 0.5 },
  projectWeek: { least: 0.8, most: 2, chance: 0.3 },
} as const;
/** Shares of all groups of the level or all projects, at least one. */
export const EDIT_SHARE = {
  middleBudget: { share: 0.3, least: 0.5, most: 1.5 },
  leafSlots: { share: 0.2, least: 0.5, most: 1.5 },
  leafBlocked: { share: 0.1, hours: 3 },
  leafUnlimited: { share: 0.1, days: 4 },
  /** Its limit that only watches is enforced, and one that was enforced only watches. */
  leafMode: 0.3,
  /** So much on top of the month's budget for some days. */
  middleGrant: { share: 0.4, ofBudget: 0.2, days: 7 },
  leafMoves: 0.06,
  /** Level 2 moves, with all below it. */
  middleMoves: 0.05,
} as const;

/** Deployments of some leaf groups are exempt from budgets, until the middle of the month. */
export const EXEMPT = { share: 0.2, jobName: 'deploy', untilMs: at(20, 12) } as const;
export const WATCHED_DAY = { share: 0.5, least: 0.5, most: 2 } as const;
export const STARTS = { share: 0.3, times: 3, floor: 4 } as const;
export const LARGE_SLOTS = { times: 2.5, floor: 6 } as const;

/** Shares of limits on concurrent jobs and on starts for which jobs wait, and for how long; and the timeout of the router. */
export const WAITS = { share: 0.6, seconds: [5, 20, 45], answerWithinMs: 20_000 } as const;
/** Concurrent jobs of some projects, likewise: less than a pipeline of theirs begins with. All of them are waited for. */
export const NARROW = { share: 0.3, times: 2, floor: 2, seconds: [20, 45] } as const;

/** Concurrent jobs, as a multiple of the average number in flight during working hours, but never below the floor. */
export const SLOTS = { leaf: { times: 5, floor: 8 }, middle: { times: 4, floor: 20 } } as const;
export const WORKING_DAYS = 21;
export const WORKING_HOURS_A_DAY = 10;
