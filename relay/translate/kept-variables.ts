import {
  HIDDEN_VALUE,
  overwriteVariable,
  RESOURCE_WORDS,
} from '../../policies/kubernetes/resource-variables.ts';
import { WireText } from '../wire/pass.ts';
import { TEXT_LENGTH_MAX } from './aliases.ts';

/** More than any policy reads. A flood of allowed names must not make a request large. */
export const VARIABLES_KEPT_MAX = 128;
/** GitLab's bound for names of variables. A pipeline may name one longer, which is dropped. */
const NAME_LENGTH_MAX = 255;
const COPY_MARK_LENGTH_MAX = 5;
/** More labels, tolerations or annotations than a job sets by hand. Each kind counts alone. */
const OVERWRITES_KEPT_MAX = 32;

export const isActedOn = (name: string): boolean =>
  overwriteVariable(name) !== undefined || isResourceVariable(name);

/**
 * Collects the variables of one job that may leave the relay. The last one of a name wins, as in the runner, so a later one that
 * must not be read removes an earlier one. Variables that the executor acts on are kept apart: no flood of others displaces them,
 * and if a value must be hidden, the name is still kept.
 */
export class KeptVariables {
  readonly #kept = new Map<string, string>();
  /** Bounded, because there are few names, and names with a prefix are counted. */
  readonly #actedOn = new Map<string, string>();
  readonly #countOf = new Map<string, number>();
  /** Prefixes with more names than are kept. Further names change nothing. */
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

  /** One entry for all unread names, so that rules do not allow them. */
  #putUnseen(prefix: string): void {
    this.#actedOn.set(`${prefix}…`, HIDDEN_VALUE);
  }

  /** The runner takes every value of such a variable, so each is an entry: `NAME`, `NAME (2)`. */
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

export type RawValue = WireText | string | undefined;

export type VariableValue = string | Uint8Array;

const BYTES_PER_LENGTH_MAX = 3;

/** Decodes a value unless it is too long to be of use, such as a large file. */
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

export interface AllowedVariables {
  readonly names: readonly string[];
  readonly prefixes: readonly string[];
  /** Names whose values rules compare. They leave like those of `names`. A hidden one is reported as set. */
  readonly compared?: readonly string[];
}

/** GitLab's flags of a variable. A flag that the schema lacks is `undefined`. */
export interface VariableFlags {
  readonly public: boolean | undefined;
  readonly masked: boolean | undefined;
  readonly file: boolean | undefined;
}

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Predefined variables that carry context and no secret (docs: ci/variables/predefined_variables). */
const CONTEXT = words(`
  CI_COMMIT_BRANCH CI_COMMIT_REF_NAME CI_COMMIT_REF_PROTECTED CI_COMMIT_REF_SLUG CI_COMMIT_TAG
  CI_DEFAULT_BRANCH CI_ENVIRONMENT_ACTION CI_ENVIRONMENT_NAME CI_ENVIRONMENT_SLUG CI_ENVIRONMENT_TIER
  CI_JOB_IMAGE CI_JOB_MANUAL CI_JOB_NAME CI_JOB_STAGE CI_MERGE_REQUEST_IID
  CI_MERGE_REQUEST_SOURCE_BRANCH_NAME CI_MERGE_REQUEST_TARGET_BRANCH_NAME CI_NODE_INDEX CI_NODE_TOTAL
  CI_PIPELINE_ID CI_PIPELINE_SOURCE CI_PIPELINE_TRIGGERED CI_PROJECT_CLASSIFICATION_LABEL
  CI_PROJECT_ID CI_PROJECT_NAMESPACE CI_PROJECT_NAMESPACE_ID CI_PROJECT_PATH CI_PROJECT_ROOT_NAMESPACE
  CI_PROJECT_VISIBILITY CI_RUNNER_ID CI_RUNNER_TAGS
`);

/** Secrets, or URLs that contain one. A policy must not read them. */
const NEVER = words(`
  CI_BUILD_TOKEN CI_DEPENDENCY_PROXY_PASSWORD CI_DEPLOY_PASSWORD CI_JOB_JWT CI_JOB_JWT_V1
  CI_JOB_JWT_V2 CI_JOB_TOKEN CI_REGISTRY_PASSWORD CI_REPOSITORY_URL
`);

/** A prefix does not match names that look like secrets. */
const SECRET_NAME = /TOKEN|PASSW|SECRET|CREDENTIAL|PRIVATE|AUTH|JWT|KEY|_URL$/;

const KUBERNETES_RESOURCE = new RegExp(
  `^KUBERNETES_(HELPER_|SERVICE_|POD_)?(${Object.values(RESOURCE_WORDS).join('|')})_(REQUEST|LIMIT)(_MAX_OVERWRITE_ALLOWED)?$`,
);

const isResourceVariable = (name: string): boolean => KUBERNETES_RESOURCE.test(name);

export type Fate = 'keep' | 'hide' | 'drop';

/**
 * Decides by name and flags if a variable may leave the relay.
 *
 * 1. Predefined variables are `public`, settings of projects and groups are not. A name that the policy reads exactly may be
 *    private, one that matches a prefix may not.
 * 2. Values of masked and file variables never leave. If the schema lacks `masked`, only GitLab's own context leaves.
 * 3. Variables that the Kubernetes executor acts on must not escape the rules. The bearer token, overwrites named like a secret,
 *    masked overwrites and resources are hidden, not dropped.
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

/** A service's variables come from the pipeline file. Rules need only those that the executor acts on. */
export const isServiceVariable = (name: string, flags: VariableFlags): boolean =>
  name.startsWith('KUBERNETES_') && flags.masked !== true && flags.file !== true && !SECRET_NAME.test(name);
