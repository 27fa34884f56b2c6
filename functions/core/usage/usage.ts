export interface UsageKey {
  /** `subjectKey`: `instance`, `group/101`, `project/1001`, `runner-class/large`. */
  readonly subject: string;
  /** `2026-11-21`, in the rollup's zone: the day on which the jobs were decided. */
  readonly day: string;
}

export const usageName = ({ subject, day }: UsageKey): string => `${subject}|${day}`;

const USAGE_COUNTS = [
  'jobs',
  'admitted',
  'rejected',
  /** Part of `rejected`: ran all the same, in dry run or past us. They are charged, and no part of `bypass`. */
  'ranRejected',
  'released',
  /** Admitted, and GitLab does not know them any more. */
  'expired',
  'ran',
  'unasked',
  'seconds',
  'settledMicros',
  'heldMicros',
  // Jobs that did not ask, by cause.
  'unmetered',
  'bypass',
  'exempt',
] as const;

export interface Usage extends Readonly<Record<(typeof USAGE_COUNTS)[number], number>> {
  readonly rejectedBy: ReadonlyMap<string, number>;
  readonly ranRejectedBy: ReadonlyMap<string, number>;
  /** Keyed by the rule or limit that only watches; a job counts under each. What is only warned of is left out. */
  readonly watchedBy: ReadonlyMap<string, number>;
}

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
export const formerRootsIn = (tally: UsageTally): readonly number[] =>
  [...tally.keys()].flatMap((name) =>
    name.startsWith(FORMER_ROOT_PREFIX) ? [Number(name.slice(FORMER_ROOT_PREFIX.length))] : [],
  );

export const REJECTED_BY_PREFIX = 'x:';
export const RAN_REJECTED_BY_PREFIX = 'y:';
export const WATCHED_BY_PREFIX = 'w:';

export function usageOf(tally: UsageTally): Usage {
  const counts = {} as Record<(typeof USAGE_COUNTS)[number], number>;
  for (const name of USAGE_COUNTS) counts[name] = tally.get(name) ?? 0;
  return {
    ...counts,
    rejectedBy: byRule(tally, REJECTED_BY_PREFIX),
    ranRejectedBy: byRule(tally, RAN_REJECTED_BY_PREFIX),
    watchedBy: byRule(tally, WATCHED_BY_PREFIX),
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

export function addTo(sum: Map<string, number>, delta: UsageTally, sign: 1 | -1): void {
  for (const [name, count] of delta) {
    const total = (sum.get(name) ?? 0) + sign * count;
    if (total === 0) sum.delete(name);
    else sum.set(name, total);
  }
}

/** Runners as usage names them: one count each for jobs they were asked about, and for jobs they were not. */
export const ASKED_ON_PREFIX = 'a:';
export const UNASKED_ON_PREFIX = 'b:';
/** GitLab named no runner, or the record had no room for it. */
export const UNKNOWN_RUNNER = '?';
export const OTHER_RUNNERS = '*';

export const isRunnerName = (name: string): boolean => RUNNER_NAME.test(name);

const RUNNER_NAME = new RegExp(`^(?:${ASKED_ON_PREFIX}|${UNASKED_ON_PREFIX})`);

/** Some ten bytes each, so that they add a write unit or two to an item that has one. */
const NAMED_MAX = 100;
const DAYS_MAX = 5_000;

export const isGroupSubject = (subject: string): boolean => subject.startsWith('group/');

/** @param subjects - of the job, the top-level group first among its groups */
export type RunnerName = (runnerId: number | undefined, day: string, subjects: readonly string[]) => string;

/** A day of a top-level group names its first hundred runners and counts the others together, so that usage items stay small. */
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

/** Upper bounds, per cent. What is above the last counts in a bucket of its own. Never reorder: the index is the name. */
const BOUNDS_PERCENT = [5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 125, 150, 200, 300, 500] as const;

const RATIO_PREFIX = 'q';

export function ratioBucket(actualSeconds: number, estimateSeconds: number): string | undefined {
  if (!(estimateSeconds > 0)) return undefined;
  const percent = (actualSeconds / estimateSeconds) * 100;
  const index = BOUNDS_PERCENT.findIndex((bound) => percent <= bound);
  return `${RATIO_PREFIX}${index < 0 ? BOUNDS_PERCENT.length : index}`;
}

const NUMBER_OF_BUCKET = new RegExp(`^${RATIO_PREFIX}(\\d+)$`);

export function isOverEstimate(name: string): boolean | undefined {
  const index = NUMBER_OF_BUCKET.exec(name)?.[1];
  return index === undefined ? undefined : (BOUNDS_PERCENT[Number(index)] ?? Number.POSITIVE_INFINITY) > 100;
}

/** Upper bounds, seconds; of the last there is none. Never change: the index is the name, and jobs keep their seconds alone. */
export const QUEUE_BOUNDS_SECONDS = [10, 60, 300, 900, 3_600, Number.POSITIVE_INFINITY] as const;

export const QUEUE_BUCKETS = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5'] as const;

export function queueCounts(
  isRetry: boolean | undefined,
  queuedSeconds: number | undefined,
  micros: number,
): readonly [string, number][] {
  const counts: [string, number][] = [];
  if (isRetry !== undefined) counts.push([isRetry ? 'retries' : 'firstRuns', 1]);
  if (isRetry === true) counts.push(['retryMicros', micros]);
  if (queuedSeconds !== undefined) {
    const bucket = QUEUE_BOUNDS_SECONDS.findIndex((bound) => queuedSeconds <= bound);
    counts.push([`p${bucket}`, 1], ['queuedSeconds', queuedSeconds]);
  }
  return counts.filter(([, count]) => count !== 0);
}

/** `0,64` is a first run after 64 s, `1,` a retry with an unknown queue time: full names would double a contribution. */
export function queueLine(tally: UsageTally): string | undefined {
  const tried = tally.has('retries') ? '1' : tally.has('firstRuns') ? '0' : '';
  const isKnown = QUEUE_BUCKETS.some((name) => tally.has(name));
  if (tried === '' && !isKnown) return undefined;
  return `${tried},${isKnown ? (tally.get('queuedSeconds') ?? 0) : ''}`;
}

export function readQueueLine(text: string, tally: UsageTally): readonly [string, number][] {
  const [tried = '', seconds = ''] = text.split(',');
  const isRetry = tried === '' ? undefined : tried === '1';
  return queueCounts(isRetry, seconds === '' ? undefined : Number(seconds), tally.get('settledMicros') ?? 0);
}

const QUEUE_NAMES = ['firstRuns', 'retries', 'retryMicros', 'queuedSeconds', ...QUEUE_BUCKETS] as const;

export const isQueueName = (name: string): boolean => QUEUE_NAMES.some((each) => each === name);

const COUNTS = [
  ...[...USAGE_COUNTS, ...QUEUE_NAMES, 'corrections', ROOT_JOBS],
  ...BELOW_COUNTS.map(([, below]) => below),
];
const PREFIXES = [
  ...[FORMER_ROOT_PREFIX, REJECTED_BY_PREFIX, RAN_REJECTED_BY_PREFIX, WATCHED_BY_PREFIX],
  ...[ASKED_ON_PREFIX, UNASKED_ON_PREFIX],
];
const TALLY_NAME = new RegExp(`^(?:(?:${COUNTS.join('|')}|${RATIO_PREFIX}\\d+)$|${PREFIXES.join('|')})`);

export const isTallyName = (name: string): boolean => TALLY_NAME.test(name);
