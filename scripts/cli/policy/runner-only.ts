/** Settings of a Runner that admission requests do not contain, so that no rule sees them. */
import type { ContainerSection, RunnerDraft } from './import-rules.ts';
import type { ConfigSetting, RunnerSection } from './runner-config.ts';

/** Values that give a job more than a plain container has. */
type Gives = (value: unknown) => boolean;

const isSet: Gives = (value) =>
  value !== false && value !== '' && value !== 0 && !(Array.isArray(value) && value.length === 0);
const isHost: Gives = (value) => value === 'host';
const isRoot: Gives = (value) => value === 0 || value === 0n;
const isTrue: Gives = (value) => value === true;
/** `/cache` is a volume of Docker's own, `/host:/there` is the machine's. */
const isOfMachine: Gives = (value) =>
  Array.isArray(value) && value.some((each) => typeof each === 'string' && /^[^:]+:/.test(each));

/** The setting or a common prefix, what it gives, and by which values. @default isSet */
type Row = readonly [path: string, what: string, gives?: Gives];

const DIND = 'docker_in_docker: false refuses known engines by name, and no more';

const OF_DOCKER: readonly Row[] = [
  ['privileged', `containers with all rights of the machine (privileged); ${DIND}`],
  ['services_privileged', 'services with all rights of the machine (services_privileged)'],
  ['cap_add', 'more capabilities (cap_add)'],
  ['security_opt', 'other security options (security_opt)'],
  ['services_security_opt', 'other security options of services (services_security_opt)'],
  ['devices', 'devices of the machine (devices)'],
  ['device_cgroup_rules', 'devices of the machine (device_cgroup_rules)'],
  ['gpus', 'GPUs (gpus)'],
  ['volumes', 'folders or sockets of the machine (volumes)', isOfMachine],
  ['volumes_from', 'volumes of other containers (volumes_from)'],
  ['network_mode', "the machine's network (network_mode)", isHost],
  ['pid_mode', "the machine's processes (pid_mode)", isHost],
  ['ipcmode', "the machine's memory of processes (ipcmode)", isHost],
  ['userns_mode', "the machine's users (userns_mode)", isHost],
  ['sysctls', 'kernel settings (sysctls)'],
];

const CONTEXTS = [
  'pod_security_context',
  'init_permissions_container_security_context',
  'build_container_security_context',
  'helper_container_security_context',
  'service_container_security_context',
];
const MORE_RIGHTS = 'more rights than it starts with';

const OF_KUBERNETES: readonly Row[] = [
  ['privileged', `containers with all rights of the node (privileged); ${DIND}`, isTrue],
  ['allow_privilege_escalation', `${MORE_RIGHTS} (allow_privilege_escalation)`, isTrue],
  ['cap_add', 'more capabilities (cap_add)'],
  ...CONTEXTS.flatMap((context): readonly Row[] => [
    [`${context}.run_as_user`, `root (${context})`, isRoot],
    [`${context}.privileged`, `all rights of the node (${context})`],
    [`${context}.allow_privilege_escalation`, `${MORE_RIGHTS} (${context})`],
    [`${context}.capabilities.add`, `more capabilities (${context})`],
  ]),
  ['volumes', 'volumes of the cluster or the node (volumes)'],
  ['node_selector', 'nodes of its own (node_selector)'],
  ['node_tolerations', 'nodes with taints (node_tolerations)'],
  ['affinity', 'nodes of its own (affinity)'],
  [
    'namespace_per_job',
    'a namespace for each job (namespace_per_job), so KUBERNETES_NAMESPACE_OVERWRITE does nothing',
  ],
  ['service_account', 'a service account (service_account)'],
  [
    'automount_service_account_token',
    "the service account's token (automount_service_account_token)",
    isTrue,
  ],
  ['runtime_class_name', 'another container runtime (runtime_class_name)'],
  ['priority_class_name', 'a priority over other pods (priority_class_name)'],
  ['pod_spec', 'a patch of the whole pod (pod_spec)'],
  [
    'bearer_token_overwrite_allowed',
    "another token for the cluster's API (KUBERNETES_BEARER_TOKEN); a rule can refuse it: bearer_token: false",
  ],
];

/** Notes the settings that rules cannot see, with their lines, and values that the Runner hides. */
export function addUnseenSettings(
  section: RunnerSection,
  part: ContainerSection | undefined,
  draft: RunnerDraft,
): void {
  const { settings, line } = section;
  const rows = part === undefined ? [] : part === 'docker' ? OF_DOCKER : OF_KUBERNETES;
  for (const [path, what, gives = isSet] of rows) {
    const found = settingsAt(section, `${part}.${path}`).find(({ value }) => gives(value));
    if (found !== undefined) draft.note('no_rule', found.line, what);
  }
  const environment = settings.get('environment');
  if (environment !== undefined)
    draft.note(
      'not_seen',
      environment.line,
      'environment sets variables that GitLab does not know: what they put into images and KUBERNETES_* no rule sees',
    );
  if (settings.get('feature_flags.FF_USE_JOB_ROUTER')?.value !== true)
    draft.note(
      'not_seen',
      line,
      'FF_USE_JOB_ROUTER is not true under [runners.feature_flags]: from 18.11 on GitLab asks about none of its jobs, so no rule is asked (18.9 and 18.10 have it in the environment of the process)',
    );
}

/** The setting, or all below it if it is a table or a list of tables. */
function settingsAt({ settings, tables }: RunnerSection, path: string): readonly ConfigSetting[] {
  const isBelow = ([key]: readonly [string, unknown]): boolean => key === path || key.startsWith(`${path}.`);
  return [
    ...[...settings].filter(isBelow).map(([, setting]) => setting),
    ...[...tables].filter(isBelow).flatMap(([, all]) => all),
  ];
}
