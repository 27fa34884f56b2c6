import type { ServiceRequest } from '../request/request.ts';
import { parseQuantity, type Quantity } from './quantity.ts';

export type ContainerKind = 'build' | 'helper' | 'service' | 'pod';

export type Bound = 'request' | 'limit';

/** A variable that asks for an amount. Its value stays here: it could be anything. */
export interface Setting {
  readonly variable: string;
  readonly service?: string;
  readonly quantity?: Quantity;
}

export type BoundSettings = { readonly [bound in Bound]?: Setting | undefined };

type Variables = Readonly<Record<string, string>>;
/** The resource's name in variables of GitLab Runner. */
export const RESOURCE_WORDS = {
  cpu: 'CPU',
  memory: 'MEMORY',
  'ephemeral-storage': 'EPHEMERAL_STORAGE',
} as const;

export type ResourceName = keyof typeof RESOURCE_WORDS;

type Names = Readonly<Record<ResourceName, Readonly<Record<Bound, string>>>>;

const namesWith = (prefix: string): Names => {
  const bounds = Object.entries(RESOURCE_WORDS).map(([name, word]) => [
    name,
    { request: `${prefix}${word}_REQUEST`, limit: `${prefix}${word}_LIMIT` },
  ]);
  return Object.fromEntries(bounds) as Names;
};

const NAMES: Readonly<Record<ContainerKind, Names>> = {
  build: namesWith('KUBERNETES_'),
  helper: namesWith('KUBERNETES_HELPER_'),
  service: namesWith('KUBERNETES_SERVICE_'),
  pod: namesWith('KUBERNETES_POD_'),
};

export const resourceVariableName = (kind: ContainerKind, resource: ResourceName, bound: Bound): string =>
  NAMES[kind][resource][bound];

/** For `service` it returns the default of services without own settings. */
export function askedByJob(
  variables: Variables | undefined,
  kind: ContainerKind,
  resource: ResourceName,
): BoundSettings {
  // A pod has no ephemeral storage of its own to ask for: the runner does not read such a variable.
  if (variables === undefined || (kind === 'pod' && resource === 'ephemeral-storage')) return NONE;
  const names = NAMES[kind][resource];
  return asked(settingIn(variables, names.request), settingIn(variables, names.limit));
}

/**
 * Returns the service's own settings, or else those that the job sets for services. GitLab documents two
 * spellings of a service's variables; the runner reads only the one with `SERVICE_`.
 *
 * @see https://docs.gitlab.com/runner/executors/kubernetes/#overwrite-service-containers-resources
 */
export function askedByService(
  { name, variables }: ServiceRequest,
  resource: ResourceName,
  general: BoundSettings,
): BoundSettings {
  if (variables === undefined) return general;
  const own = (bound: Bound): Setting | undefined =>
    settingIn(variables, NAMES.service[resource][bound], name);
  return asked(own('request') ?? general.request, own('limit') ?? general.limit);
}

/** Most containers ask for nothing. They share one object, because each job needs up to 12 and more for its services. */
const NONE: BoundSettings = {};
const asked = (request: Setting | undefined, limit: Setting | undefined): BoundSettings =>
  request === undefined && limit === undefined ? NONE : { request, limit };

/** As in Kubernetes, what has a limit and no request requests its limit. */
export const effective = ({ request, limit }: BoundSettings, bound: Bound): Setting | undefined =>
  bound === 'limit' ? limit : (request ?? limit);

/** The runner takes an empty value for none. */
function settingIn(variables: Variables, variable: string, service?: string): Setting | undefined {
  const value = variables[variable];
  if (value === undefined || value === '') return undefined;
  const quantity = parseQuantity(value);
  return {
    variable,
    ...(service !== undefined && { service }),
    ...(quantity !== undefined && { quantity }),
  };
}

/** @see https://docs.gitlab.com/runner/executors/kubernetes/#configuration-settings (`*_overwrite_allowed`) */
const OVERWRITE_VARIABLES = [
  { overwrite: 'namespace', name: 'KUBERNETES_NAMESPACE_OVERWRITE', isPrefix: false },
  { overwrite: 'service_account', name: 'KUBERNETES_SERVICE_ACCOUNT_OVERWRITE', isPrefix: false },
  { overwrite: 'bearer_token', name: 'KUBERNETES_BEARER_TOKEN', isPrefix: false },
  { overwrite: 'node_selector', name: 'KUBERNETES_NODE_SELECTOR_', isPrefix: true },
  { overwrite: 'node_tolerations', name: 'KUBERNETES_NODE_TOLERATIONS_', isPrefix: true },
  { overwrite: 'pod_labels', name: 'KUBERNETES_POD_LABELS_', isPrefix: true },
  { overwrite: 'pod_annotations', name: 'KUBERNETES_POD_ANNOTATIONS_', isPrefix: true },
] as const;

export type OverwriteVariable = (typeof OVERWRITE_VARIABLES)[number];
export type OverwriteName = OverwriteVariable['overwrite'];
export const OVERWRITE_NAMES: readonly OverwriteName[] = /* @__PURE__ */ OVERWRITE_VARIABLES.map(
  ({ overwrite }) => overwrite,
);

const KUBERNETES = 'KUBERNETES_';

export function overwriteVariable(name: string): OverwriteVariable | undefined {
  if (!name.startsWith(KUBERNETES)) return undefined;
  return OVERWRITE_VARIABLES.find((each) =>
    each.isPrefix ? name.startsWith(each.name) : name === each.name,
  );
}

/** Stands for a value that does not leave the relay: masked, a file, or a secret's. It passes no pattern. */
export const HIDDEN_VALUE = '[set]';
