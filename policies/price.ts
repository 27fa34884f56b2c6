import type { FootprintDefaults } from './kubernetes/footprint.ts';
import type { AdmissionRequest } from './request/request.ts';

/** A named set of runners with a price. */
export interface RunnerClass {
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
  /** What a job is taken to use where its variables do not say; absent: not known. */
  readonly footprint?: FootprintDefaults;
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
