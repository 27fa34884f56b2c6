import { RATIO_PREFIX, ratioPercent } from './hold-ratio.ts';
import { QUEUE_BUCKETS } from './queue-time.ts';
import { ASKED_ON_PREFIX, UNASKED_ON_PREFIX } from './runner-names.ts';
import type { UsageTally } from './tally.ts';

/** Names one subject's usage of one day. */
export interface UsageKey {
  /** `subjectKey`: `instance`, `group/101`, `project/1001`, `runner-class/large`. */
  readonly subject: string;
  /** `2026-11-21`, in the rollup's zone: the day on which the jobs were decided. */
  readonly day: string;
}

/** `group/101|2026-11-21`. Days have no `|`. */
export const usageName = ({ subject, day }: UsageKey): string => `${subject}|${day}`;

/** What the jobs of a day came to, each counted as its record stands now. */
export interface Usage {
  readonly jobs: number;
  /** Not rejected, whatever became of them. */
  readonly admitted: number;
  readonly rejected: number;
  /** Part of `rejected`: ran all the same, in dry run or past us. They are charged, and no part of `bypass`. */
  readonly ranRejected: number;
  /** Admitted, and given back because they never ran. */
  readonly released: number;
  /** Admitted, and GitLab does not know them any more. */
  readonly expired: number;
  /** Ended, and GitLab says it ran: asked about or not. */
  readonly ran: number;
  /** Part of `ran`: nobody was asked about it. */
  readonly unasked: number;
  /** Keyed by rule; a job that several rules rejected counts under each. */
  readonly rejectedBy: ReadonlyMap<string, number>;
  /** The same for those that ran all the same. */
  readonly ranRejectedBy: ReadonlyMap<string, number>;
  /** Keyed by the rule or limit that only watches; a job counts under each. What is only warned of is left out. */
  readonly watchedBy: ReadonlyMap<string, number>;
  /** What settled jobs ran. */
  readonly seconds: number;
  /** What ended jobs are charged, corrections included. */
  readonly settledMicros: number;
  /** What live jobs hold. */
  readonly heldMicros: number;
  /** Jobs that did not ask, by cause. */
  readonly unmetered: number;
  readonly bypass: number;
  readonly exempt: number;
  /** Actual ÷ held duration of settled jobs, per cent, as the upper bound of a bucket; absent without such jobs. */
  readonly holdRatioPercent?: { readonly p50: number; readonly p90: number };
}

/** Jobs of which the group was the top-level group when they were decided. */
export const ROOT_JOBS = 'rootJobs';
/** Counts of a group, and the same of the jobs that were decided while it was below another. */
export const BELOW_COUNTS = [
  ['settledMicros', 'bMicros'],
  ['seconds', 'bSeconds'],
  ['ran', 'bRan'],
  ['corrections', 'bCorrections'],
] as const;

/** The instance's jobs by top-level group, of groups that were moved or deleted before their jobs were counted: `g:101`. */
export const FORMER_ROOT_PREFIX = 'g:';
/** Returns the ids of the groups that {@link FORMER_ROOT_PREFIX} names. */
export const formerRootsIn = (tally: UsageTally): readonly number[] =>
  [...tally.keys()].flatMap((name) =>
    name.startsWith(FORMER_ROOT_PREFIX) ? [Number(name.slice(FORMER_ROOT_PREFIX.length))] : [],
  );

export const REJECTED_BY_PREFIX = 'x:';
export const RAN_REJECTED_BY_PREFIX = 'y:';
export const WATCHED_BY_PREFIX = 'w:';

export function usageOf(tally: UsageTally): Usage {
  const count = (name: string): number => tally.get(name) ?? 0;
  const p50 = ratioPercent(tally, 0.5);
  const p90 = ratioPercent(tally, 0.9);
  return {
    jobs: count('jobs'),
    admitted: count('admitted'),
    rejected: count('rejected'),
    ranRejected: count('ranRejected'),
    released: count('released'),
    expired: count('expired'),
    ran: count('ran'),
    unasked: count('unasked'),
    rejectedBy: byRule(tally, REJECTED_BY_PREFIX),
    ranRejectedBy: byRule(tally, RAN_REJECTED_BY_PREFIX),
    watchedBy: byRule(tally, WATCHED_BY_PREFIX),
    seconds: count('seconds'),
    settledMicros: count('settledMicros'),
    heldMicros: count('heldMicros'),
    unmetered: count('unmetered'),
    bypass: count('bypass'),
    exempt: count('exempt'),
    ...(p50 !== undefined && p90 !== undefined && { holdRatioPercent: { p50, p90 } }),
  };
}

/** Pages read thousands of days, and few of them have any. */
function byRule(tally: UsageTally, prefix: string): ReadonlyMap<string, number> {
  let found: Map<string, number> | undefined;
  for (const [name, jobs] of tally) {
    if (jobs === 0 || !name.startsWith(prefix)) continue;
    found ??= new Map();
    found.set(name.slice(prefix.length), jobs);
  }
  return found ?? NO_RULES;
}

const NO_RULES: ReadonlyMap<string, number> = new Map();

const COUNTS = [
  'jobs',
  'admitted',
  'rejected',
  'ranRejected',
  'released',
  'expired',
  'ran',
  'unasked',
  'seconds',
  'settledMicros',
  'heldMicros',
  'unmetered',
  'bypass',
  'exempt',
  'corrections',
  'firstRuns',
  'retries',
  'retryMicros',
  'queuedSeconds',
  ROOT_JOBS,
  ...BELOW_COUNTS.map(([, below]) => below),
  ...QUEUE_BUCKETS,
];
const PREFIXES = [
  FORMER_ROOT_PREFIX,
  REJECTED_BY_PREFIX,
  RAN_REJECTED_BY_PREFIX,
  WATCHED_BY_PREFIX,
  ASKED_ON_PREFIX,
  UNASKED_ON_PREFIX,
];
const TALLY_NAME = new RegExp(`^(?:(?:${COUNTS.join('|')}|${RATIO_PREFIX}\\d+)$|${PREFIXES.join('|')})`);

/** Names a usage item may hold beside its keys. */
export const isTallyName = (name: string): boolean => TALLY_NAME.test(name);
