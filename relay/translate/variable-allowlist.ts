import { overwriteVariable } from '../../policies/kubernetes/overwrite-variables.ts';

/** Which variables may leave the relay. Everything else is forgotten where it was read. */
export interface AllowedVariables {
  /** Names the policy reads, e.g. `COST_CENTER`. */
  readonly names: readonly string[];
  /** Beginnings of names the policy reads, e.g. `TEAM_`. */
  readonly prefixes: readonly string[];
  /** Names whose values rules compare. They leave like those of `names`; what may not leave is told to be set. */
  readonly compared?: readonly string[];
}

/** What GitLab says about a variable; a flag the schema does not have is `undefined`. */
export interface VariableFlags {
  readonly public: boolean | undefined;
  readonly masked: boolean | undefined;
  readonly file: boolean | undefined;
}

/** Predefined variables that carry context and no secret (docs: ci/variables/predefined_variables). */
const CONTEXT: ReadonlySet<string> = new Set([
  'CI_COMMIT_BRANCH',
  'CI_COMMIT_REF_NAME',
  'CI_COMMIT_REF_PROTECTED',
  'CI_COMMIT_REF_SLUG',
  'CI_COMMIT_TAG',
  'CI_DEFAULT_BRANCH',
  'CI_ENVIRONMENT_ACTION',
  'CI_ENVIRONMENT_NAME',
  'CI_ENVIRONMENT_SLUG',
  'CI_ENVIRONMENT_TIER',
  'CI_JOB_IMAGE',
  'CI_JOB_MANUAL',
  'CI_JOB_NAME',
  'CI_JOB_STAGE',
  'CI_MERGE_REQUEST_IID',
  'CI_MERGE_REQUEST_SOURCE_BRANCH_NAME',
  'CI_MERGE_REQUEST_TARGET_BRANCH_NAME',
  'CI_NODE_INDEX',
  'CI_NODE_TOTAL',
  'CI_PIPELINE_ID',
  'CI_PIPELINE_SOURCE',
  'CI_PIPELINE_TRIGGERED',
  'CI_PROJECT_CLASSIFICATION_LABEL',
  'CI_PROJECT_ID',
  'CI_PROJECT_NAMESPACE',
  'CI_PROJECT_NAMESPACE_ID',
  'CI_PROJECT_PATH',
  'CI_PROJECT_ROOT_NAMESPACE',
  'CI_PROJECT_VISIBILITY',
  'CI_RUNNER_ID',
  'CI_RUNNER_TAGS',
]);

/** Secrets by definition, or URLs that embed one: not even a policy may ask for them. */
const NEVER: ReadonlySet<string> = new Set([
  'CI_BUILD_TOKEN',
  'CI_DEPENDENCY_PROXY_PASSWORD',
  'CI_DEPLOY_PASSWORD',
  'CI_JOB_JWT',
  'CI_JOB_JWT_V1',
  'CI_JOB_JWT_V2',
  'CI_JOB_TOKEN',
  'CI_REGISTRY_PASSWORD',
  'CI_REPOSITORY_URL',
]);

/** A prefix is a net: what looks like a secret by its name slips out of it. */
const SECRET_NAME = /TOKEN|PASSW|SECRET|CREDENTIAL|PRIVATE|AUTH|JWT|KEY|_URL$/;

/** How much CPU, memory and disk a job asks for; often set for the whole project. */
const KUBERNETES_RESOURCE =
  /^KUBERNETES_(HELPER_|SERVICE_|POD_)?(CPU|MEMORY|EPHEMERAL_STORAGE)_(REQUEST|LIMIT)(_MAX_OVERWRITE_ALLOWED)?$/;

export const isResourceVariable = (name: string): boolean => KUBERNETES_RESOURCE.test(name);

/** `hide`: that it is set may be known, its value may not. */
export type Fate = 'keep' | 'hide' | 'drop';

/**
 * Decides by name and flags whether a variable survives. Predefined variables are `public`; project and group
 * settings are not, so a name that is asked for exactly may be private, one caught by a prefix may not. The values of
 * masked and file variables never survive, and where the schema cannot say `masked`, only GitLab's own context does.
 *
 * What the Kubernetes executor acts on must not get past the rules unseen because its value may not be shown: the
 * bearer token, overwrites named like a secret, masked overwrites and resources are hidden, not dropped.
 */
export function variableAllowlist(allowed: AllowedVariables): (name: string, flags: VariableFlags) => Fate {
  const exact = new Set([...allowed.names, ...(allowed.compared ?? [])].filter((name) => !NEVER.has(name)));
  const prefixes = ['KUBERNETES_', ...allowed.prefixes];
  return (name, flags) => {
    const unseen = flags.masked === true || flags.file === true;
    if (overwriteVariable(name) !== undefined)
      return unseen || flags.masked === undefined || SECRET_NAME.test(name) ? 'hide' : 'keep';
    if (isResourceVariable(name)) return unseen ? 'hide' : flags.masked === undefined ? 'drop' : 'keep';
    return !unseen && mayShow(name, flags) ? 'keep' : 'drop';
  };

  function mayShow(name: string, flags: VariableFlags): boolean {
    if (CONTEXT.has(name)) return flags.public !== false;
    if (flags.masked === undefined || NEVER.has(name)) return false;
    if (exact.has(name)) return true;
    return (
      flags.public === true && !SECRET_NAME.test(name) && prefixes.some((prefix) => name.startsWith(prefix))
    );
  }
}

/** A service's variables stand in the repository's own file; only what the executor acts on is of use to a rule. */
export const isServiceVariable = (name: string, flags: VariableFlags): boolean =>
  name.startsWith('KUBERNETES_') && flags.masked !== true && flags.file !== true && !SECRET_NAME.test(name);
