/** Settings of a Runner that admission requests do not contain, so that no rule sees them. */
import type { ContainerSection, RunnerDraft } from './import-rules.ts';
import type { RunnerSection } from './runner-config.ts';

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
  ['privileged', `containers with all rights of the machine; ${DIND}`],
  ['services_privileged', 'services with all rights of the machine'],
  ['cap_add', 'more capabilities'],
  ['security_opt', 'other security options'],
  ['services_security_opt', 'other security options of services'],
  ['devices', 'devices of the machine'],
  ['device_cgroup_rules', 'devices of the machine'],
  ['gpus', 'GPUs'],
  ['volumes', 'folders or sockets of the machine', isOfMachine],
  ['volumes_from', 'volumes of other containers'],
  ['network_mode', "the machine's network", isHost],
  ['pid_mode', "the machine's processes", isHost],
  ['ipcmode', "the machine's memory of processes", isHost],
  ['userns_mode', "the machine's users", isHost],
  ['sysctls', 'kernel settings'],
];

const CONTEXTS = [
  'pod',
  'init_permissions_container',
  'build_container',
  'helper_container',
  'service_container',
];

const OF_KUBERNETES: readonly Row[] = [
  ['privileged', `containers with all rights of the node; ${DIND}`, isTrue],
  ['allow_privilege_escalation', 'more rights than a container starts with', isTrue],
  ['cap_add', 'more capabilities'],
  ...CONTEXTS.flatMap((context): readonly Row[] => [
    [`${context}_security_context.run_as_user`, 'root', isRoot],
    [`${context}_security_context.privileged`, 'all rights of the node'],
    [`${context}_security_context.allow_privilege_escalation`, 'more rights than a container starts with'],
    [`${context}_security_context.capabilities.add`, 'more capabilities'],
  ]),
  ['volumes', 'volumes of the cluster or the node'],
  ['node_selector', 'nodes of its own'],
  ['node_tolerations', 'nodes with taints'],
  ['affinity', 'nodes of its own'],
  ['namespace_per_job', 'a namespace for each job, so KUBERNETES_NAMESPACE_OVERWRITE does nothing'],
  ['service_account', 'a service account'],
  ['automount_service_account_token', "the service account's token", isTrue],
  ['runtime_class_name', 'another container runtime'],
  ['priority_class_name', 'a priority over other pods'],
  ['pod_spec', 'a patch of the whole pod'],
  [
    'bearer_token_overwrite_allowed',
    "another token for the cluster's API; a rule can refuse it: bearer_token: false",
  ],
];

/** Notes the settings that rules cannot see, with their lines, and values that the Runner hides. */
export function addUnseenSettings(
  { settings, tables, line }: RunnerSection,
  part: ContainerSection | undefined,
  { note }: RunnerDraft,
): void {
  const rows = part === undefined ? [] : part === 'docker' ? OF_DOCKER : OF_KUBERNETES;
  for (const [path, what, gives = isSet] of rows) {
    // The setting, or all below it if it is a table or a list of tables.
    const isBelow = ([key]: readonly [string, unknown]): boolean => `${key}.`.startsWith(`${part}.${path}.`);
    const own = [...settings].filter(isBelow).map(([, setting]) => setting);
    const listed = [...tables].filter(isBelow).flatMap(([, all]) => all);
    const found = [...own, ...listed].find(({ value }) => gives(value));
    if (found !== undefined) note('no_rule', found.line, `${what} (${path})`);
  }
  const environment = settings.get('environment');
  if (environment !== undefined)
    note(
      'not_seen',
      environment.line,
      'environment sets variables that GitLab does not know: what they put into images and KUBERNETES_* no rule sees',
    );
  if (settings.get('feature_flags.FF_USE_JOB_ROUTER')?.value !== true)
    note(
      'not_seen',
      line,
      'FF_USE_JOB_ROUTER is not true under [runners.feature_flags]: from 18.11 on GitLab asks about none of its jobs, so no rule is asked (18.9 and 18.10 have it in the environment of the process)',
    );
}
