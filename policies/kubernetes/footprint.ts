import type { AdmissionRequest } from '../request/request.ts';
import { demandOf, demandPartsOf, type ResourceDemand } from './demand.ts';
import { NANOS_PER_BYTE, NANOS_PER_MILLICPU, wholeUnits } from './quantity.ts';

/** What a job's build container is taken to request when the job states nothing for it. Whole units. */
export interface FootprintDefaults {
  readonly millicpu?: number;
  readonly bytes?: number;
}

/**
 * A total in whole units, rounded up once. Absent: nothing is stated and there is no default. `invalid`: a variable
 * that counts is no Kubernetes quantity, or the total is past 2^53 - 1.
 */
export type FootprintTotal = number | undefined | 'invalid';

export interface Footprint {
  readonly millicpu: FootprintTotal;
  readonly bytes: FootprintTotal;
}

/**
 * How much CPU and memory a job requests from the cluster: what its pod requests, or else its build (or the default),
 * helper and services together. Helper and services that state nothing count 0. Pure; throws only
 * on a default that is no whole number.
 */
export function footprintOf(request: AdmissionRequest, defaults: FootprintDefaults): Footprint {
  const demand = demandOf(request);
  return {
    millicpu: takenOf(demand?.cpu, defaults.millicpu, NANOS_PER_MILLICPU),
    bytes: takenOf(demand?.memory, defaults.bytes, NANOS_PER_BYTE),
  };
}

function takenOf(
  demand: ResourceDemand | undefined,
  defaultUnits: number | undefined,
  nanosPerUnit: bigint,
): FootprintTotal {
  const parts = demand === undefined ? [] : demandPartsOf(demand, 'request');
  const fillsIn = defaultUnits !== undefined && !parts.some(({ kind }) => kind === 'build' || kind === 'pod');
  if (parts.length === 0 && !fillsIn) return undefined;
  let nanos = fillsIn ? BigInt(defaultUnits) * nanosPerUnit : 0n;
  for (const { setting } of parts) {
    if (setting.quantity === undefined) return 'invalid';
    nanos += setting.quantity.nanos;
  }
  return wholeUnits(nanos, nanosPerUnit) ?? 'invalid';
}
