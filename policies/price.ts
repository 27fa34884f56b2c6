import { type Footprint, type FootprintTotal, footprintOf, type RunnerSize } from './kubernetes/footprint.ts';
import type { AdmissionRequest } from './request/request.ts';

export interface RunnerClass extends RunnerSize {
  readonly name: string;
  /** A runner with all these tags belongs to the class. Empty: by id only. */
  readonly tags: readonly string[];
  readonly runnerIds: ReadonlySet<number>;
  readonly microsPerMinute: number;
  readonly microsPerCpuHour?: number;
  readonly microsPerGibHour?: number;
  readonly round?: 'minute';
  readonly estimateSeconds?: number;
}

/** The first class that matches wins. */
export interface PriceList {
  readonly version: string;
  readonly classes: readonly RunnerClass[];
  readonly defaultClass: RunnerClass;
}

export interface PriceTable extends PriceList {
  readonly later?: readonly DatedPriceList[];
}

export interface DatedPriceList extends PriceList {
  readonly fromMs: number;
}

/** 10 000 a minute is no price but a typing error; it also keeps a year's cost below 2^53 micro-units. */
export const MICROS_PER_MINUTE_MAX = 10_000_000_000;

/** The job's tags stand in for the runner's: a runner that took the job has at least those. */
export function runnerClassOf(request: AdmissionRequest, prices: PriceList): RunnerClass {
  const tags = request.runnerTags ?? request.jobTags;
  for (const each of prices.classes) {
    if (request.runnerId !== undefined && each.runnerIds.has(request.runnerId)) return each;
    if (tags !== undefined && each.tags.length > 0 && each.tags.every((tag) => tags.includes(tag)))
      return each;
  }
  return prices.defaultClass;
}

/** The name in rules for runners without a class. Reserved. */
export const NO_CLASS = 'none';

/** The default class only stands in for price and limits: there are tags, and no class has them. */
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

/** In micro-units, rounded up: a hold must never be too small. Whole minutes apart, to stay within safe integers. */
export function costMicros(microsPerMinute: number, seconds: number, round?: 'minute'): number {
  if (round === 'minute') return microsPerMinute * Math.ceil(seconds / 60);
  const minutes = Math.floor(seconds / 60);
  return microsPerMinute * minutes + Math.ceil((microsPerMinute * (seconds - minutes * 60)) / 60);
}

export interface JobPrice {
  readonly version: string;
  /** Includes the CPU and memory the job requests, where the class has rates for them. */
  readonly microsPerMinute: number;
  readonly round?: 'minute';
}

export function jobPriceOf(request: AdmissionRequest, runnerClass: RunnerClass, version: string): JobPrice {
  const { round } = runnerClass;
  const { microsPerCpuHour, microsPerGibHour } = runnerClass;
  const microsPerMinute =
    microsPerCpuHour === undefined && microsPerGibHour === undefined
      ? runnerClass.microsPerMinute
      : microsPerMinuteWith(runnerClass, footprintOf(request, runnerClass));
  return { version, microsPerMinute, ...(round !== undefined && { round }) };
}

const usualMicrosPerMinute = (runnerClass: RunnerClass): number =>
  microsPerMinuteWith(runnerClass, { millicpu: undefined, bytes: undefined });

const MILLICPU_PER_CPU = 1000n;
const BYTES_PER_GIB = 2n ** 30n;
const PARTS = 60n * MILLICPU_PER_CPU * BYTES_PER_GIB;

/** Rounds up once. An impossible size costs the highest allowed price, so that sums stay safe integers. */
function microsPerMinuteWith(runnerClass: RunnerClass, taken: Footprint): number {
  const { microsPerMinute, microsPerCpuHour = 0, microsPerGibHour = 0, footprint = {} } = runnerClass;
  // A request that cannot be read costs like one that says nothing; the `resources` rule is there to refuse it.
  const units = (each: FootprintTotal, otherwise = 0): bigint =>
    BigInt(typeof each === 'number' ? each : otherwise);
  const millicpu = units(taken.millicpu, footprint.millicpu);
  const bytes = units(taken.bytes, footprint.bytes);
  const parts =
    BigInt(microsPerMinute) * PARTS +
    BigInt(microsPerCpuHour) * millicpu * BYTES_PER_GIB +
    BigInt(microsPerGibHour) * bytes * MILLICPU_PER_CPU;
  const micros = (parts + PARTS - 1n) / PARTS;
  return micros > BigInt(MICROS_PER_MINUTE_MAX) ? MICROS_PER_MINUTE_MAX : Number(micros);
}

/** The latest version that has begun. The first also holds before its date, because every job has a price. */
export const pricesAt = (prices: PriceTable, nowMs: number): PriceList =>
  prices.later?.findLast(({ fromMs }) => fromMs <= nowMs) ?? prices;

export const priceVersions = (prices: PriceTable): readonly PriceList[] => [prices, ...(prices.later ?? [])];

export const runnerClassNames = (prices: PriceTable): readonly string[] => [
  ...new Set(priceVersions(prices).flatMap(({ classes }) => classes.map(({ name }) => name))),
];

/** A comma in the wrong place is a factor of ten; prices that really change stay well below half of it. */
export const PRICE_JUMP_FACTOR = 5;

/**
 * Lists rates that are more than this factor above or below the earlier ones. Free to priced and back is always one.
 * `rate_per_minute` is the price of a usual job of the class, with its CPU and memory.
 */
export function priceJumps({ classes }: PriceList, list: PriceList) {
  return list.classes.flatMap((to) => {
    const from = classes.find(({ name }) => name === to.name);
    if (from === undefined) return [];
    const rates = [
      ['rate_per_minute', usualMicrosPerMinute(from), usualMicrosPerMinute(to)],
      ['rate_per_cpu_hour', from.microsPerCpuHour, to.microsPerCpuHour],
      ['rate_per_gib_hour', from.microsPerGibHour, to.microsPerGibHour],
    ] as const;
    return rates.flatMap(([rate, fromMicros, toMicros]) => {
      if (fromMicros === undefined || toMicros === undefined) return [];
      const isJump = Math.max(fromMicros, toMicros) > PRICE_JUMP_FACTOR * Math.min(fromMicros, toMicros);
      return isJump ? [{ runnerClass: to.name, rate, fromMicros, toMicros }] : [];
    });
  });
}
