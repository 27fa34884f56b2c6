import {
  type Footprint,
  type FootprintDefaults,
  type FootprintTotal,
  footprintOf,
  type RunnerSize,
} from '../kubernetes/footprint.ts';
import type { AdmissionRequest } from '../request/request.ts';

/** A named set of runners with a price. */
export interface RunnerClass extends RunnerSize {
  readonly name: string;
  /** A runner belongs to the class if it has all of them. Empty: by id only. */
  readonly tags: readonly string[];
  readonly runnerIds: ReadonlySet<number>;
  /** Micro-units of the currency, whole. */
  readonly microsPerMinute: number;
  /** On top, for the CPU the job requests; the class then has a footprint of it. */
  readonly microsPerCpuHour?: number;
  /** Likewise for its memory. */
  readonly microsPerGibHour?: number;
  /** What a begun minute costs: the whole of it, or its seconds where this is absent. */
  readonly round?: 'minute';
  /** What a job of the class is taken to last before its runs are known; absent: the policy's default. */
  readonly estimateSeconds?: number;
}

/** The first class that matches wins. */
export interface PriceList {
  readonly version: string;
  readonly classes: readonly RunnerClass[];
  readonly defaultClass: RunnerClass;
}

/** The first version, which holds until a later one does. */
export interface PriceTable extends PriceList {
  /** In the order of their dates; absent: none. */
  readonly later?: readonly DatedPriceList[];
}

export interface DatedPriceList extends PriceList {
  /** Unix ms: the first instant at which it is in force. */
  readonly fromMs: number;
}

/** 10 000 a minute is no price but a typing error; it also keeps a year's cost below 2^53 micro-units. */
export const MICROS_PER_MINUTE_MAX = 10_000_000_000;

/**
 * The class of the runner that asked. Where GitLab sends no runner tags the job's own stand in: a runner that took the
 * job has at least those.
 */
export function runnerClassOf(request: AdmissionRequest, prices: PriceList): RunnerClass {
  const tags = request.runnerTags ?? request.jobTags;
  for (const each of prices.classes) {
    if (request.runnerId !== undefined && each.runnerIds.has(request.runnerId)) return each;
    if (tags !== undefined && each.tags.length > 0 && each.tags.every((tag) => tags.includes(tag)))
      return each;
  }
  return prices.defaultClass;
}

/** What rules call the runners that belong to no class. No class may have the name. */
export const NO_CLASS = 'none';

/**
 * Whether the default class only stands in, for the price and the limits: the runner has tags, or the job asks for some,
 * and no class has them. If there are no tags, the default is what it says it is.
 */
export function isUnclassed(
  { runnerTags, jobTags, runnerId }: AdmissionRequest,
  { classes, defaultClass }: PriceList,
  runnerClass: RunnerClass,
): boolean {
  if (runnerClass !== defaultClass) return false;
  const tags = runnerTags ?? jobTags;
  if (tags === undefined || tags.length === 0 || classes.length === 0) return false;
  if (runnerId !== undefined && defaultClass.runnerIds.has(runnerId)) return false;
  return defaultClass.tags.length === 0 || !defaultClass.tags.every((tag) => tags.includes(tag));
}

/**
 * What so many seconds cost, in micro-units, rounded up: a hold must never be too small. Whole minutes and the rest
 * are multiplied apart, so that no product leaves the safe integers.
 *
 * @param round - `minute`: a begun minute costs as much as a whole one.
 */
export function costMicros(microsPerMinute: number, seconds: number, round?: 'minute'): number {
  if (round === 'minute') return microsPerMinute * Math.ceil(seconds / 60);
  const minutes = Math.floor(seconds / 60);
  return microsPerMinute * minutes + Math.ceil((microsPerMinute * (seconds - minutes * 60)) / 60);
}

/** What a job's time costs. Goes into its record, so that it settles at the price of its admission. */
export interface JobPrice {
  readonly version: string;
  /** Includes the CPU and memory the job requests, where the class has rates for them. */
  readonly microsPerMinute: number;
  /** A begun minute costs a whole one; absent: its seconds. */
  readonly round?: 'minute';
}

export function jobPriceOf(request: AdmissionRequest, runnerClass: RunnerClass, version: string): JobPrice {
  const { round } = runnerClass;
  const microsPerMinute = hasResourceRates(runnerClass)
    ? microsPerMinuteWith(runnerClass, footprintOf(request, runnerClass))
    : runnerClass.microsPerMinute;
  return { version, microsPerMinute, ...(round !== undefined && { round }) };
}

/** A minute of a job that takes what its class is said to take. */
export const usualMicrosPerMinute = (runnerClass: RunnerClass): number =>
  hasResourceRates(runnerClass)
    ? microsPerMinuteWith(runnerClass, { millicpu: undefined, bytes: undefined })
    : runnerClass.microsPerMinute;

const hasResourceRates = ({ microsPerCpuHour, microsPerGibHour }: RunnerClass): boolean =>
  microsPerCpuHour !== undefined || microsPerGibHour !== undefined;

const MINUTES_PER_HOUR = 60n;
const MILLICPU_PER_CPU = 1000n;
const BYTES_PER_GIB = 2n ** 30n;
/** What all three rates can be written in without a rest. */
const PARTS = MINUTES_PER_HOUR * MILLICPU_PER_CPU * BYTES_PER_GIB;

/** Rounded up once. What no machine has costs as much as any price may be, so that sums stay countable. */
function microsPerMinuteWith(runnerClass: RunnerClass, taken: Footprint): number {
  const { microsPerMinute, microsPerCpuHour = 0, microsPerGibHour = 0, footprint = {} } = runnerClass;
  const { millicpu, bytes } = known(taken, footprint);
  const parts =
    BigInt(microsPerMinute) * PARTS +
    BigInt(microsPerCpuHour) * millicpu * BYTES_PER_GIB +
    BigInt(microsPerGibHour) * bytes * MILLICPU_PER_CPU;
  const micros = (parts + PARTS - 1n) / PARTS;
  return micros > BigInt(MICROS_PER_MINUTE_MAX) ? MICROS_PER_MINUTE_MAX : Number(micros);
}

/** A request that cannot be read costs like one that says nothing; the `resources` rule is there to refuse it. */
function known(taken: Footprint, { millicpu = 0, bytes = 0 }: FootprintDefaults) {
  const units = (each: FootprintTotal, otherwise: number): bigint =>
    BigInt(typeof each === 'number' ? each : otherwise);
  return { millicpu: units(taken.millicpu, millicpu), bytes: units(taken.bytes, bytes) };
}

/**
 * The prices in force at an instant: the latest version that has begun. The first also holds before its own date,
 * because every job has a price.
 */
export function pricesAt(prices: PriceTable, nowMs: number): PriceList {
  let inForce: PriceList = prices;
  for (const each of prices.later ?? []) {
    if (each.fromMs > nowMs) break;
    inForce = each;
  }
  return inForce;
}

/** Every version, oldest first. */
export const priceVersions = (prices: PriceTable): readonly PriceList[] => [prices, ...(prices.later ?? [])];

/** The names of the classes of all versions: what rules and limits may be about. */
export const runnerClassNames = (prices: PriceTable): readonly string[] => [
  ...new Set(priceVersions(prices).flatMap(({ classes }) => classes.map(({ name }) => name))),
];
