import type { AdmissionRequest } from '../request/request.ts';
import type { ResourceName } from './resource-variables.ts';
import {
  askedByJob,
  askedByService,
  type Bound,
  type BoundSettings,
  type ContainerKind,
  effective,
  type Setting,
} from './resource-variables.ts';

/** What a job asks for of one resource. */
export interface ResourceDemand extends Readonly<Record<ContainerKind, BoundSettings>> {
  /** One for each of the job's services, in their order; `service` is what they get that ask for nothing. */
  readonly services: readonly BoundSettings[];
}

export type Demand = Readonly<Record<ResourceName, ResourceDemand>>;

/** Many rules ask about the same request: its variables are read once. */
const known = new WeakMap<AdmissionRequest, { readonly demand: Demand | undefined }>();

/** All a job's variables ask of Kubernetes; `undefined` if that is nothing at all, as with most jobs. */
export function demandOf(request: AdmissionRequest): Demand | undefined {
  let found = known.get(request);
  if (found === undefined) {
    found = { demand: readAll(request) };
    known.set(request, found);
  }
  return found.demand;
}

function readAll(request: AdmissionRequest): Demand | undefined {
  const ofServices = request.services?.some(({ variables }) => isSome(variables)) ?? false;
  if (!ofServices && !isSome(request.variables)) return undefined;
  return {
    cpu: readDemand(request, 'cpu'),
    memory: readDemand(request, 'memory'),
    'ephemeral-storage': readDemand(request, 'ephemeral-storage'),
  };
}

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

/** Returns what each container of a job asks for: build, helper and services, in this order; those that ask for nothing have no entry. */
export const containerSettingsOf = (
  { build, helper, services }: ResourceDemand,
  bound: Bound,
): readonly Setting[] => [build, helper, ...services].flatMap((asked) => effective(asked, bound) ?? []);
