import { type RunnerVariables, runnerVariables } from '../../policies/variables/runner-variables.ts';
import { isMap } from './yaml-source.ts';

export type Variables = Readonly<Record<string, string>>;

/** References upon references; GitLab refuses cycles, here a cycle stops at this depth. */
const DEPTH_MAX = 20;

/** Variables of a `variables:` key: plain values, or mappings with a `value` and a description. */
export function readVariables(value: unknown): Variables {
  if (!isMap(value)) return {};
  const variables: Record<string, string> = {};
  for (const [key, entry] of Object.entries(value)) {
    const plain = isMap(entry) ? entry.value : entry;
    if (plain !== undefined && plain !== null) variables[key] = String(plain);
  }
  return variables;
}

/**
 * Puts values in the place of `$NAME`, `${NAME}` and `%NAME%`, and of what stands in those values. `$$` is a dollar.
 * An unknown name becomes empty, as the runner does, and is told to `onUnknown`.
 */
export function expandVariables(
  text: string,
  variables: Variables,
  onUnknown: (name: string) => void,
): string {
  return expand(text, 0);

  function expand(part: string, depth: number): string {
    return part.replaceAll(
      /\$\$|\$\{(\w+)\}|\$(\w+)|%(\w+)%/g,
      (whole, braced?: string, bare?: string, percent?: string) => {
        const name = braced ?? bare ?? percent;
        if (name === undefined) return '$';
        const value = variables[name];
        if (value !== undefined && depth < DEPTH_MAX) return expand(value, depth + 1);
        // `%` is common in URLs; only known names between two of them are variables.
        if (percent !== undefined) return whole;
        onUnknown(name);
        return '';
      },
    );
  }
}

/**
 * Values put in as GitLab puts variables into each other before it asks: a name that no file sets stays as it is
 * written, and so does `$$`.
 */
export const expandKnown = (text: string, variables: Variables, depth = 0): string =>
  text.replaceAll(
    /\$\$|\$\{(\w+)\}|\$(\w+)|%(\w+)%/g,
    (whole, braced?: string, bare?: string, percent?: string) => {
      const value = variables[braced ?? bare ?? percent ?? ''];
      return value === undefined || depth >= DEPTH_MAX ? whole : expandKnown(value, variables, depth + 1);
    },
  );

/** The variables of a file as the runner reads them. */
export const runnerVariablesOf = (variables: Variables): RunnerVariables =>
  runnerVariables((name) => {
    const value = variables[name];
    return value === undefined ? undefined : { value: expandKnown(value, variables), raw: false };
  });

/** Names that a text refers to and that are not set, each once. */
export function unsetNames(text: string, variables: Variables): readonly string[] {
  const names = new Set<string>();
  expandVariables(text, variables, (name) => names.add(name));
  return [...names];
}
