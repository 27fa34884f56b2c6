import { perObject } from '../match/remember.ts';
import type { AdmissionRequest } from '../request/request.ts';
import { NANOS_PER_BYTE, NANOS_PER_MILLICPU, type Quantity, wholeUnits } from './quantity.ts';
import {
  askedByJob,
  askedByService,
  type Bound,
  type BoundSettings,
  type ContainerKind,
  effective,
  type ResourceName,
  type Setting,
} from './resource-variables.ts';

export interface FootprintDefaults {
  readonly millicpu?: number;
  readonly bytes?: number;
}

/** The largest amount that runners take from each variable. They ignore a variable that is not here. */
export type Overwrites = ReadonlyMap<string, Quantity>;

export interface RunnerSize {
  readonly footprint?: FootprintDefaults;
  /** Absent: unknown, so the larger of class and request counts. Empty: the job overwrites nothing. */
  readonly overwrites?: Overwrites;
}

/** Whole units, rounded up once. `invalid`: the class has no size, and a variable that counts is no quantity. */
export type FootprintTotal = number | undefined | 'invalid';

export type Footprint = Readonly<Record<keyof FootprintDefaults, FootprintTotal>>;

/**
 * Returns the CPU and memory that a job requests from the cluster: the sum of its containers, or the request of its pod if
 * that is larger. Kubernetes refuses a pod that requests less than its containers. Helper and services that request
 * nothing count 0. A job cannot make itself smaller than its class by a variable that its runners do not read.
 */
export function footprintOf(request: AdmissionRequest, size: RunnerSize): Footprint {
  const demand = demandOf(request);
  const { footprint = {}, overwrites } = size;
  return {
    millicpu: sumRequests(demand?.cpu, footprint.millicpu, overwrites, NANOS_PER_MILLICPU),
    bytes: sumRequests(demand?.memory, footprint.bytes, overwrites, NANOS_PER_BYTE),
  };
}

/** @param units - of the class. */
function sumRequests(
  demand: ResourceDemand | undefined,
  units: number | undefined,
  overwrites: Overwrites | undefined,
  nanosPerUnit: bigint,
): FootprintTotal {
  if (demand === undefined) return units;
  const own = units === undefined ? undefined : BigInt(units) * nanosPerUnit;
  const isRead = (setting: Setting | undefined): boolean =>
    setting !== undefined && (overwrites === undefined || overwrites.has(setting.variable));
  // Kubernetes takes the limit of a container without a request for its request.
  const requested = ({ request, limit }: BoundSettings): Setting | undefined =>
    isRead(request) ? request : isRead(limit) ? limit : undefined;
  const { request } = demand.build;
  // The build container of a class with a size already has a request, so that a limit set by the job does not
  // change it.
  const keepsRequest = own !== undefined && overwrites !== undefined;
  const build = keepsRequest ? (isRead(request) ? request : undefined) : requested(demand.build);
  const pod = requested(demand.pod);
  const others = [demand.helper, ...demand.services].map(requested);
  const stated = [build, pod, ...others].filter((each) => each !== undefined);
  if (own === undefined && stated.length === 0) return undefined;
  if (own === undefined && stated.some(({ quantity }) => quantity === undefined)) return 'invalid';
  // The Runner fails a job that asks for more than the maximum, so no job takes more.
  const readNanos = (setting: Setting | undefined): bigint | undefined =>
    setting?.quantity && smaller(setting.quantity.nanos, overwrites?.get(setting.variable)?.nanos);
  const asked = readNanos(build) ?? own ?? 0n;
  const ofBuild = overwrites === undefined ? larger(asked, own ?? 0n) : asked;
  const sum = others.reduce((total, each) => total + (readNanos(each) ?? 0n), ofBuild);
  return wholeUnits(larger(sum, readNanos(pod) ?? 0n), nanosPerUnit) ?? Number.MAX_SAFE_INTEGER;
}

const smaller = (a: bigint, b: bigint = a): bigint => (a < b ? a : b);
const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);

export interface ResourceDemand extends Readonly<Record<ContainerKind, BoundSettings>> {
  readonly services: readonly BoundSettings[];
}

export type Demand = Readonly<Record<ResourceName, ResourceDemand>>;

/** Reads the variables of a request once, because many rules ask about it. */
export const demandOf = perObject((request: AdmissionRequest): Demand | undefined => {
  const ofServices = request.services?.some(({ variables }) => isSome(variables)) ?? false;
  if (!ofServices && !isSome(request.variables)) return undefined;
  return {
    cpu: readDemand(request, 'cpu'),
    memory: readDemand(request, 'memory'),
    'ephemeral-storage': readDemand(request, 'ephemeral-storage'),
  };
});

function isSome(variables: Readonly<Record<string, string>> = {}): boolean {
  for (const name in variables) if (name.startsWith('KUBERNETES_')) return true;
  return false;
}

function readDemand({ variables, services = [] }: AdmissionRequest, resource: ResourceName): ResourceDemand {
  const service = askedByJob(variables, 'service', resource);
  return {
    build: askedByJob(variables, 'build', resource),
    helper: askedByJob(variables, 'helper', resource),
    pod: askedByJob(variables, 'pod', resource),
    service,
    services: services.map((each) => askedByService(each, resource, service)),
  };
}

export const containerSettingsOf = (
  { build, helper, services }: ResourceDemand,
  bound: Bound,
): readonly Setting[] => [build, helper, ...services].flatMap((asked) => effective(asked, bound) ?? []);
