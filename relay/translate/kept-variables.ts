import { HIDDEN_VALUE, overwriteVariable } from '../../policies/kubernetes/resource-variables.ts';
import { WireText } from '../wire/reading-budget.ts';
import { TEXT_LENGTH_MAX } from './text-length.ts';

/** More survivors than any policy reads; a flood of allowed names must not make a request large. */
export const VARIABLES_KEPT_MAX = 128;
/** GitLab's own bound for names of variables; one that a pipeline names longer cannot be passed on. */
const NAME_LENGTH_MAX = 255;
/** Room for ` (32)`, see {@link KeptVariables}. */
const COPY_MARK_LENGTH_MAX = 5;
/** More labels, tolerations or annotations than a job sets by hand; each kind counts for itself. */
export const OVERWRITES_KEPT_MAX = 32;

/** Whether the Kubernetes executor acts on a variable of this name. */
export const isActedOn = (name: string): boolean =>
  overwriteVariable(name) !== undefined || isResourceVariable(name);

/**
 * The survivors of one job's variables. The runner lets the last one of a name win, so a later one that may not be read
 * also takes away the earlier. What the executor acts on is kept apart: no flood of others pushes it out, and where its
 * value cannot be told, that it is set still is.
 */
export class KeptVariables {
  readonly #kept = new Map<string, string>();
  /** Bounded, too: the names are few, and behind each prefix they are counted. */
  readonly #actedOn = new Map<string, string>();
  readonly #countOf = new Map<string, number>();
  /** Prefixes of which more came than are kept: what else comes behind them changes nothing. */
  readonly #overfull = new Set<string>();

  put(name: string, value: unknown, fate: Fate): void {
    const overwritten = overwriteVariable(name);
    if (name.length > NAME_LENGTH_MAX - COPY_MARK_LENGTH_MAX) {
      if (overwritten?.isPrefix === true) this.#putUnseen(overwritten.name);
      return;
    }
    const short = typeof value === 'string' && value.length <= TEXT_LENGTH_MAX;
    if (fate !== 'drop' && (overwritten !== undefined || isResourceVariable(name))) {
      const shown = short && (fate === 'keep' || value === '') ? value : HIDDEN_VALUE;
      if (overwritten?.isPrefix === true) this.#putPrefixed(overwritten.name, name, shown);
      else this.#actedOn.set(name, shown);
    } else if (fate !== 'keep' || !short) {
      this.#kept.delete(name);
    } else if (this.#kept.size < VARIABLES_KEPT_MAX || this.#kept.has(name)) {
      this.#kept.set(name, value);
    }
  }

  forget(name: string): void {
    this.#kept.delete(name);
  }

  all(): ReadonlyMap<string, string> {
    return new Map([...this.#kept, ...this.#actedOn]);
  }

  #putPrefixed(prefix: string, name: string, value: string): void {
    if (this.#overfull.has(prefix)) return;
    const count = this.#countOf.get(prefix) ?? 0;
    const entry = this.#entryFor(name, value, count);
    if (this.#actedOn.has(entry)) return;
    if (count >= OVERWRITES_KEPT_MAX) {
      this.#putUnseen(prefix);
      this.#overfull.add(prefix);
      return;
    }
    this.#actedOn.set(entry, value);
    this.#countOf.set(prefix, count + 1);
  }

  /** One entry for all that are not looked at: rules must not take them to be allowed. */
  #putUnseen(prefix: string): void {
    this.#actedOn.set(`${prefix}…`, HIDDEN_VALUE);
  }

  /** The runner takes every value of such a variable that comes twice, so each is an entry: `NAME`, `NAME (2)`. */
  #entryFor(name: string, value: string, count: number): string {
    let entry = name;
    for (let copy = 2; copy <= count + 1; copy += 1) {
      const there = this.#actedOn.get(entry);
      if (there === undefined || there === value) return entry;
      entry = `${name} (${copy})`;
    }
    return entry;
  }
}

/** A variable's value as it came; undefined is an empty one. */
export type RawValue = WireText | string | undefined;

/** A value that may be read, or only the bytes of one that is longer than any that is. */
export type VariableValue = string | Uint8Array;

/** No character of a text has more bytes, counted in halves of UTF-16. */
const BYTES_PER_LENGTH_MAX = 3;

/** Decodes it, unless it is too long to be of use: then nobody pays for what large files in variables hold. */
export function readValue(raw: RawValue): VariableValue {
  if (raw instanceof WireText) {
    if (raw.sizeBytes > BYTES_PER_LENGTH_MAX * TEXT_LENGTH_MAX) return raw.bytes();
    return readValue(raw.text());
  }
  const text = raw ?? '';
  return text.length <= TEXT_LENGTH_MAX ? text : Buffer.from(text);
}

export const isEmptyValue = (raw: RawValue): boolean =>
  raw instanceof WireText ? raw.sizeBytes === 0 : raw === undefined || raw === '';

export const sameValue = (one: VariableValue, other: VariableValue): boolean =>
  typeof one === 'string' || typeof other === 'string' ? one === other : Buffer.compare(one, other) === 0;

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

const isResourceVariable = (name: string): boolean => KUBERNETES_RESOURCE.test(name);

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
