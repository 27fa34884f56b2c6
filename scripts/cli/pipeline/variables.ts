import { type RunnerVariables, runnerVariables } from '../../../policies/variables/runner-variables.ts';
import { PipelineError } from './pipeline-error.ts';
import { isMap } from './yaml-map.ts';

export type Variables = Readonly<Record<string, string>>;

/** Longer than what GitLab lets a variable hold (10 000). Bounds what values upon values can grow to. */
export const VALUE_CHARACTERS_MAX = 16_384;

export function readPipelineVariables(value: unknown): Variables {
  if (!isMap(value)) return {};
  const entries = Object.entries(value).map(([key, entry]) => [key, isMap(entry) ? entry.value : entry]);
  return Object.fromEntries(entries.flatMap(([key, plain]) => (plain == null ? [] : [[key, String(plain)]])));
}

const NONE: ReadonlySet<string> = new Set();

export function rawNames(value: unknown): ReadonlySet<string> {
  const entries = isMap(value) ? Object.entries(value) : [];
  return new Set(entries.flatMap(([name, entry]) => (isMap(entry) && entry.expand === false ? name : [])));
}

const NAMES = /\$\$|\$\{(\w+)\}|\$(\w+)|%(\w+)%/g;

interface Replacing {
  readonly raw: ReadonlySet<string>;
  /** References to `raw` variables stay as they are written. */
  readonly keepsRaw?: boolean;
  /** Takes names that are not set, which become empty as in the runner. Without it they stay, and so does `$$`. */
  readonly onUnknown?: (name: string) => void;
}

/** Expands each value once, however often it is used. A name that refers to itself has no value there. */
function expander(
  variables: Variables,
  { raw, keepsRaw = false, onUnknown }: Replacing,
): (text: string) => string {
  const values = new Map<string, string>();
  const open = new Set<string>();
  return expand;

  function expand(text: string): string {
    if (!/[$%]/.test(text)) return text;
    let expanded = '';
    let at = 0;
    for (const match of text.matchAll(NAMES)) {
      const [whole, braced, bare, percent] = match;
      const name = braced ?? bare ?? percent;
      expanded += text.slice(at, match.index) + replacement(whole, name, percent !== undefined);
      at = match.index + whole.length;
      if (expanded.length > VALUE_CHARACTERS_MAX)
        throw new PipelineError(
          'too_large',
          `"${text.slice(0, 60)}": its variables come to more than ${VALUE_CHARACTERS_MAX} characters; use fewer references`,
        );
    }
    return expanded + text.slice(at);
  }

  function replacement(whole: string, name: string | undefined, isPercent: boolean): string {
    if (name === undefined) return onUnknown === undefined ? whole : '$';
    const written = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (written !== undefined && raw.has(name)) return keepsRaw ? whole : written;
    if (written === undefined || open.has(name)) {
      // `%` is common in URLs: only known names between two signs are variables.
      if (onUnknown === undefined || isPercent) return whole;
      onUnknown(name);
      return '';
    }
    const known = values.get(name);
    if (known !== undefined) return known;
    open.add(name);
    const value = expand(written);
    open.delete(name);
    values.set(name, value);
    return value;
  }
}

/** Replaces `$NAME`, `${NAME}` and `%NAME%` as the runner does, also inside values unless they are `raw`. */
export const expandVariables = (
  text: string,
  variables: Variables,
  onUnknown: (name: string) => void,
  raw: ReadonlySet<string> = NONE,
): string => expander(variables, { raw, onUnknown })(text);

/** Puts values in as GitLab puts variables into each other before it asks. One result serves many texts. */
export const knownExpander = (
  variables: Variables,
  raw: ReadonlySet<string> = NONE,
): ((text: string) => string) => expander(variables, { raw, keepsRaw: true });

/** A text that GitLab itself reads, such as a path or the name of an environment. */
export const expandKnown = (text: string, variables: Variables, raw: ReadonlySet<string> = NONE): string =>
  expander(variables, { raw })(text);

export function runnerVariablesOf(variables: Variables, raw: ReadonlySet<string> = NONE): RunnerVariables {
  const expand = knownExpander(variables, raw);
  return runnerVariables((name) => {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (value === undefined) return undefined;
    return raw.has(name) ? { value, raw: true } : { value: expand(value), raw: false };
  });
}

export function unsetNames(
  text: string,
  variables: Variables,
  raw: ReadonlySet<string> = NONE,
): readonly string[] {
  const names = new Set<string>();
  expandVariables(text, variables, (name) => names.add(name), raw);
  return [...names];
}

/** Names of variables that nothing known here sets, by what is written with them. GitLab's settings may set them. */
export type UnsetVariables = Readonly<Partial<Record<'image' | 'services' | 'tags', readonly string[]>>>;

/** Those whose every value looks the same to a pattern, or that hardly any GitLab changes: a decision may rest on them. */
export const ALIKE_EVERYWHERE: Variables = {
  CI_COMMIT_SHA: '0123456789abcdef0123456789abcdef01234567',
  CI_COMMIT_SHORT_SHA: '01234567',
  CI_TEMPLATE_REGISTRY_HOST: 'registry.gitlab.com',
};

/** Placeholders for GitLab's variables in names. They stand for unknown values, so rules ignore them. */
export const PLACEHOLDERS: Variables = {
  ...ALIKE_EVERYWHERE,
  CI_REGISTRY: 'registry.example.com',
  CI_REGISTRY_IMAGE: 'registry.example.com/acme/project',
  CI_DEPENDENCY_PROXY_GROUP_IMAGE_PREFIX: 'gitlab.example.com/acme/dependency_proxy/containers',
  CI_SERVER_HOST: 'gitlab.example.com',
  CI_SERVER_FQDN: 'gitlab.example.com',
  CI_DEFAULT_BRANCH: 'main',
  CI_COMMIT_BRANCH: 'main',
  CI_COMMIT_REF_NAME: 'main',
  CI_COMMIT_REF_SLUG: 'main',
};
