/** What a job may ask of its pod through variables, beside resources: each is a setting of the runner, too. */
export const OVERWRITE_NAMES = [
  'namespace',
  'service_account',
  'bearer_token',
  'node_selector',
  'node_tolerations',
  'pod_labels',
  'pod_annotations',
] as const;

export type OverwriteName = (typeof OVERWRITE_NAMES)[number];

export interface OverwriteVariable {
  readonly overwrite: OverwriteName;
  /** The variable's name, or how the names of all of them begin. */
  readonly name: string;
  readonly isPrefix: boolean;
}

/** @see https://docs.gitlab.com/runner/executors/kubernetes/#configuration-settings (`*_overwrite_allowed`) */
const OVERWRITE_VARIABLES: readonly OverwriteVariable[] = [
  { overwrite: 'namespace', name: 'KUBERNETES_NAMESPACE_OVERWRITE', isPrefix: false },
  { overwrite: 'service_account', name: 'KUBERNETES_SERVICE_ACCOUNT_OVERWRITE', isPrefix: false },
  { overwrite: 'bearer_token', name: 'KUBERNETES_BEARER_TOKEN', isPrefix: false },
  { overwrite: 'node_selector', name: 'KUBERNETES_NODE_SELECTOR_', isPrefix: true },
  { overwrite: 'node_tolerations', name: 'KUBERNETES_NODE_TOLERATIONS_', isPrefix: true },
  { overwrite: 'pod_labels', name: 'KUBERNETES_POD_LABELS_', isPrefix: true },
  { overwrite: 'pod_annotations', name: 'KUBERNETES_POD_ANNOTATIONS_', isPrefix: true },
];

const KUBERNETES = 'KUBERNETES_';

/** Which overwrite a variable is, if it is one. */
export function overwriteVariable(name: string): OverwriteVariable | undefined {
  if (!name.startsWith(KUBERNETES)) return undefined;
  return OVERWRITE_VARIABLES.find((each) =>
    each.isPrefix ? name.startsWith(each.name) : name === each.name,
  );
}

/**
 * Stands for a value that is set and does not leave the relay: the bearer token, masked and file variables, names that
 * look like a secret's. It passes no pattern, so a value that cannot be seen is not taken to be allowed.
 */
export const HIDDEN_VALUE = '[set]';
