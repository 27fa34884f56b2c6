export interface UsageKey {
  /** `subjectKey`: `instance`, `group/101`, `project/1001`, `runner-class/large`. */
  readonly subject: string;
  /** `2026-11-21`, in the rollup's zone: the day on which the jobs were decided. */
  readonly day: string;
}

/** `group/101|2026-11-21`. Days have no `|`. */
export const usageName = ({ subject, day }: UsageKey): string => `${subject}|${day}`;

/** Totals of a day's jobs, each as its record stands now. */
export interface Usage {
  readonly jobs: number;
  /** Not rejected. */
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
  /** Part of `ran`: without an admission request. */
  readonly unasked: number;
  /** Keyed by rule; a job that several rules rejected counts under each. */
  readonly rejectedBy: ReadonlyMap<string, number>;
  /** The same for those that ran all the same. */
  readonly ranRejectedBy: ReadonlyMap<string, number>;
  /** Keyed by the rule or limit that only watches; a job counts under each. What is only warned of is left out. */
  readonly watchedBy: ReadonlyMap<string, number>;
  /** Duration of settled jobs. */
  readonly seconds: number;
  /** Charges of ended jobs, including corrections. */
  readonly settledMicros: number;
  /** Held amounts of live jobs. */
  readonly heldMicros: number;
  /** Jobs that did not ask, by cause. */
  readonly unmetered: number;
  readonly bypass: number;
  readonly exempt: number;
  /** Actual ÷ held duration of settled jobs, per cent, as the upper bound of a bucket; absent without such jobs. */
  readonly holdRatioPercent?: { readonly p50: number; readonly p90: number };
}

/** Jobs whose top-level group at the decision was this group. */
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

/** Most days have none, and pages read thousands of days. */
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

/** Counts by name; what is not there is 0. Names are attributes of a usage item. */
export type UsageTally = ReadonlyMap<string, number>;

/** Adds into `sum`; what comes to 0 leaves it. */
export function addTo(sum: Map<string, number>, delta: UsageTally): void {
  for (const [name, count] of delta) {
    const total = (sum.get(name) ?? 0) + count;
    if (total === 0) sum.delete(name);
    else sum.set(name, total);
  }
}

/** The same with every count the other way round: what takes it out again. */
export const negated = (tally: UsageTally): UsageTally =>
  new Map([...tally].map(([name, count]) => [name, -count]));

/** Runners as usage names them: one count each for jobs they were asked about, and for jobs they were not. */
export const ASKED_ON_PREFIX = 'a:';
export const UNASKED_ON_PREFIX = 'b:';
/** GitLab named no runner, or the record had no room for it. */
export const UNKNOWN_RUNNER = '?';
/** Runners beyond those that a day has room for. */
export const OTHER_RUNNERS = '*';

export const isRunnerName = (name: string): boolean => RUNNER_NAME.test(name);

const RUNNER_NAME = new RegExp(`^(?:${ASKED_ON_PREFIX}|${UNASKED_ON_PREFIX})`);

/** Some ten bytes each, so that they add a write unit or two to an item that has one. */
const NAMED_MAX = 100;
/** Days of top-level groups that are remembered. */
const DAYS_MAX = 5_000;

export const isGroupSubject = (subject: string): boolean => subject.startsWith('group/');

/**
 * Returns a runner's name in a day's usage. @param subjects - of the job, the top-level group first among
 * its groups
 */
export type RunnerName = (runnerId: number | undefined, day: string, subjects: readonly string[]) => string;

/**
 * Keeps usage items small: a day of a top-level group names its first hundred runners, and counts the jobs of any more
 * together. It remembers them for one process, so the names of a day stay near the bound and no total depends on it.
 */
export function runnerNames(): RunnerName {
  const named = new Map<string, Set<number>>();
  return (runnerId, day, subjects) => {
    if (runnerId === undefined) return UNKNOWN_RUNNER;
    const key = day + subjects.find(isGroupSubject);
    const names = named.get(key) ?? new Set();
    if (names.size >= NAMED_MAX && !names.has(runnerId)) return OTHER_RUNNERS;
    if (named.size >= DAYS_MAX) named.clear();
    named.set(key, names.add(runnerId));
    return `${runnerId}`;
  };
}

// Accuracy of holds: actual ÷ estimated duration, counted in buckets, because buckets add up and quantiles
// do not.

/** Upper bounds, per cent. What is above the last counts in a bucket of its own. Never reorder: the index is the name. */
const BOUNDS_PERCENT = [5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 125, 150, 200, 300, 500] as const;

const RATIO_PREFIX = 'q';

/** The name of the bucket; undefined where nothing was estimated. */
export function ratioBucket(actualSeconds: number, estimateSeconds: number): string | undefined {
  if (!(estimateSeconds > 0)) return undefined;
  const percent = (actualSeconds / estimateSeconds) * 100;
  const index = BOUNDS_PERCENT.findIndex((bound) => percent <= bound);
  return `${RATIO_PREFIX}${index < 0 ? BOUNDS_PERCENT.length : index}`;
}

const BUCKETS = Array.from({ length: BOUNDS_PERCENT.length + 1 }, (_, index) => `${RATIO_PREFIX}${index}`);
const NUMBER_OF_BUCKET = new RegExp(`^${RATIO_PREFIX}(\\d+)$`);

/** Returns true if the bucket's jobs took longer than their holds. Undefined for an unknown bucket. */
export function isOverEstimate(name: string): boolean | undefined {
  const index = NUMBER_OF_BUCKET.exec(name)?.[1];
  return index === undefined ? undefined : (BOUNDS_PERCENT[Number(index)] ?? Number.POSITIVE_INFINITY) > 100;
}

/**
 * The upper bound, per cent, of the bucket in which this share of the jobs is reached: 100 means that this share took no
 * longer than held. Infinity above 500 %; undefined without jobs.
 */
function ratioPercent(counts: UsageTally, share: number): number | undefined {
  const buckets = BUCKETS.map((name) => counts.get(name) ?? 0);
  const jobs = buckets.reduce((sum, count) => sum + count, 0);
  if (jobs === 0) return undefined;
  let seen = 0;
  const reached = buckets.findIndex((count) => {
    seen += count;
    return seen >= jobs * share;
  });
  return BOUNDS_PERCENT[reached] ?? Number.POSITIVE_INFINITY;
}

// Queue times of jobs, counted in buckets, because buckets add up and quantiles do not.

/** Upper bounds, seconds; of the last there is none. Never change: the index is the name, and jobs keep their seconds alone. */
export const QUEUE_BOUNDS_SECONDS = [10, 60, 300, 900, 3_600, Number.POSITIVE_INFINITY] as const;

export const QUEUE_BUCKETS = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5'] as const;

/** GitLab's values about one job's queue. Undefined: not sent. */
interface QueueFacts {
  readonly isRetry: boolean | undefined;
  readonly queuedSeconds: number | undefined;
  readonly micros: number;
}

/** Missing values are not counted: known jobs are `firstRuns` with `retries`, and the sum of the buckets. */
export function queueCounts({ isRetry, queuedSeconds, micros }: QueueFacts): readonly [string, number][] {
  const counts: [string, number][] = [];
  if (isRetry !== undefined) counts.push([isRetry ? 'retries' : 'firstRuns', 1]);
  if (isRetry === true) counts.push(['retryMicros', micros]);
  if (queuedSeconds !== undefined)
    counts.push([queueBucket(queuedSeconds), 1], ['queuedSeconds', queuedSeconds]);
  return counts.filter(([, count]) => count !== 0);
}

const queueBucket = (queuedSeconds: number): string =>
  `p${QUEUE_BOUNDS_SECONDS.findIndex((bound) => queuedSeconds <= bound)}`;

/**
 * Encodes one job's counts compactly: `0,64` is a first run after 64 s, `1,` a retry with an unknown queue
 * time. Full names would double the size of a contribution.
 *
 * @returns undefined if there is nothing, or if the tally does not fit this form.
 */
export function queueLine(tally: UsageTally): string | undefined {
  const facts = {
    isRetry: tally.has('retries') ? true : tally.has('firstRuns') ? false : undefined,
    queuedSeconds: QUEUE_BUCKETS.some((name) => tally.has(name))
      ? (tally.get('queuedSeconds') ?? 0)
      : undefined,
    micros: microsOf(tally),
  };
  const counts = queueCounts(facts);
  const told = QUEUE_NAMES.filter((name) => tally.has(name));
  if (counts.length === 0 || told.length !== counts.length) return undefined;
  if (counts.some(([name, count]) => tally.get(name) !== count)) return undefined;
  const tried = facts.isRetry === undefined ? '' : facts.isRetry ? '1' : '0';
  return `${tried},${facts.queuedSeconds ?? ''}`;
}

/** @param tally - of the same job, without these counts. */
export function readQueueLine(text: string, tally: UsageTally): readonly [string, number][] {
  const [tried = '', seconds = ''] = text.split(',');
  return queueCounts({
    isRetry: tried === '' ? undefined : tried === '1',
    queuedSeconds: seconds === '' ? undefined : Number(seconds),
    micros: microsOf(tally),
  });
}

const microsOf = (tally: UsageTally): number => tally.get('settledMicros') ?? 0;

const QUEUE_NAMES = ['firstRuns', 'retries', 'retryMicros', 'queuedSeconds', ...QUEUE_BUCKETS] as const;

export const isQueueName = (name: string): boolean => QUEUE_NAMES.some((each) => each === name);

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

/** Valid names in a usage item, besides its keys. */
export const isTallyName = (name: string): boolean => TALLY_NAME.test(name);
