import type { ImportNote } from './import-rules.ts';
import type { ConfigSetting, RunnerSection } from './runner-config.ts';

/** A setting that admission requests do not contain. */
interface UnseenSetting {
  /** The setting, or a common prefix. */
  readonly path: string;
  readonly what: string;
  /** Which values give a job more than a plain container has. @default any that is not false, 0 or empty */
  readonly gives?: (value: unknown) => boolean;
}

const isSet = (value: unknown): boolean =>
  value !== false && value !== '' && value !== 0 && !(Array.isArray(value) && value.length === 0);
const isHost = (value: unknown): boolean => value === 'host';
const isRoot = (value: unknown): boolean => value === 0 || value === 0n;
const notFalse = (value: unknown): boolean => value === true;

const OF_DOCKER: readonly UnseenSetting[] = [
  {
    path: 'docker.privileged',
    what: 'containers with all rights of the machine (privileged); docker_in_docker: false refuses known engines by name, and no more',
  },
  {
    path: 'docker.services_privileged',
    what: 'services with all rights of the machine (services_privileged)',
  },
  { path: 'docker.cap_add', what: 'more capabilities (cap_add)' },
  { path: 'docker.security_opt', what: 'other security options (security_opt)' },
  {
    path: 'docker.services_security_opt',
    what: 'other security options of services (services_security_opt)',
  },
  { path: 'docker.devices', what: 'devices of the machine (devices)' },
  { path: 'docker.device_cgroup_rules', what: 'devices of the machine (device_cgroup_rules)' },
  { path: 'docker.gpus', what: 'GPUs (gpus)' },
  {
    path: 'docker.volumes',
    what: 'folders or sockets of the machine (volumes)',
    // `/cache` is a volume of Docker's own, `/host:/there` is the machine's.
    gives: (value) =>
      Array.isArray(value) && value.some((each) => typeof each === 'string' && /^[^:]+:/.test(each)),
  },
  { path: 'docker.volumes_from', what: 'volumes of other containers (volumes_from)' },
  { path: 'docker.network_mode', what: "the machine's network (network_mode)", gives: isHost },
  { path: 'docker.pid_mode', what: "the machine's processes (pid_mode)", gives: isHost },
  { path: 'docker.ipcmode', what: "the machine's memory of processes (ipcmode)", gives: isHost },
  { path: 'docker.userns_mode', what: "the machine's users (userns_mode)", gives: isHost },
  { path: 'docker.sysctls', what: 'kernel settings (sysctls)' },
];

const CONTEXTS = [
  'pod_security_context',
  'init_permissions_container_security_context',
  'build_container_security_context',
  'helper_container_security_context',
  'service_container_security_context',
];

const OF_KUBERNETES: readonly UnseenSetting[] = [
  {
    path: 'kubernetes.privileged',
    what: 'containers with all rights of the node (privileged); docker_in_docker: false refuses known engines by name, and no more',
    gives: notFalse,
  },
  {
    path: 'kubernetes.allow_privilege_escalation',
    what: 'more rights than it starts with (allow_privilege_escalation)',
    gives: notFalse,
  },
  { path: 'kubernetes.cap_add', what: 'more capabilities (cap_add)' },
  ...CONTEXTS.flatMap((context): readonly UnseenSetting[] => [
    { path: `kubernetes.${context}.run_as_user`, what: `root (${context})`, gives: isRoot },
    { path: `kubernetes.${context}.privileged`, what: `all rights of the node (${context})` },
    {
      path: `kubernetes.${context}.allow_privilege_escalation`,
      what: `more rights than it starts with (${context})`,
    },
    { path: `kubernetes.${context}.capabilities.add`, what: `more capabilities (${context})` },
  ]),
  { path: 'kubernetes.volumes', what: 'volumes of the cluster or the node (volumes)' },
  { path: 'kubernetes.node_selector', what: 'nodes of its own (node_selector)' },
  { path: 'kubernetes.node_tolerations', what: 'nodes with taints (node_tolerations)' },
  { path: 'kubernetes.affinity', what: 'nodes of its own (affinity)' },
  {
    path: 'kubernetes.namespace_per_job',
    what: 'a namespace for each job (namespace_per_job), so KUBERNETES_NAMESPACE_OVERWRITE does nothing',
  },
  { path: 'kubernetes.service_account', what: 'a service account (service_account)' },
  {
    path: 'kubernetes.automount_service_account_token',
    what: "the service account's token (automount_service_account_token)",
    gives: notFalse,
  },
  { path: 'kubernetes.runtime_class_name', what: 'another container runtime (runtime_class_name)' },
  { path: 'kubernetes.priority_class_name', what: 'a priority over other pods (priority_class_name)' },
  { path: 'kubernetes.pod_spec', what: 'a patch of the whole pod (pod_spec)' },
  {
    path: 'kubernetes.bearer_token_overwrite_allowed',
    what: "another token for the cluster's API (KUBERNETES_BEARER_TOKEN); a rule can refuse it: bearer_token: false",
  },
];

/** Lists the Runner's settings that rules cannot see, with lines; and values that it hides. */
export function runnerOnly(
  section: RunnerSection,
  part: 'docker' | 'kubernetes' | undefined,
): readonly ImportNote[] {
  const unseen = part === undefined ? [] : part === 'docker' ? OF_DOCKER : OF_KUBERNETES;
  return [
    ...unseen.flatMap(({ path, what, gives = isSet }): readonly ImportNote[] => {
      const line = linesOf(section, path).find(({ value }) => gives(value))?.line;
      return line === undefined ? [] : [{ code: 'no_rule', line, text: what }];
    }),
    ...hidden(section),
  ];
}

/** The setting, or all below it where it is a table or a list of tables. */
function linesOf({ settings, tables }: RunnerSection, path: string): readonly ConfigSetting[] {
  const below = [...settings].filter(([key]) => key === path || key.startsWith(`${path}.`));
  const lists = [...tables].filter(([key]) => key === path || key.startsWith(`${path}.`));
  return [...below.map(([, setting]) => setting), ...lists.flatMap(([, all]) => all)];
}

function hidden({ settings, line }: RunnerSection): readonly ImportNote[] {
  const environment = settings.get('environment');
  const isRouted = settings.get('feature_flags.FF_USE_JOB_ROUTER')?.value === true;
  return [
    ...(environment === undefined
      ? []
      : [
          {
            code: 'not_seen' as const,
            line: environment.line,
            text: 'environment sets variables that GitLab does not know: what they put into images and KUBERNETES_* no rule sees',
          },
        ]),
    ...(isRouted
      ? []
      : [
          {
            code: 'not_seen' as const,
            line,
            text: 'FF_USE_JOB_ROUTER is not true under [runners.feature_flags]: from 18.11 on GitLab asks about none of its jobs, so no rule is asked (18.9 and 18.10 have it in the environment of the process)',
          },
        ]),
  ];
}
