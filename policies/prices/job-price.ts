import { type Footprint, type FootprintDefaults, footprintOf, type Taken } from '../kubernetes/footprint.ts';
import { MICROS_PER_MINUTE_MAX, type RunnerClass } from '../price.ts';
import type { AdmissionRequest } from '../request/request.ts';

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
    ? microsPerMinuteWith(runnerClass, footprintOf(request, runnerClass.footprint ?? {}))
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
  const units = (each: Taken, otherwise: number): bigint =>
    BigInt(typeof each === 'number' ? each : otherwise);
  return { millicpu: units(taken.millicpu, millicpu), bytes: units(taken.bytes, bytes) };
}
