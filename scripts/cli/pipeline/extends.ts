import { deepMerge } from './deep-merge.ts';
import type { WorkBudget } from './work-budget.ts';
import { isMap, type YamlMap } from './yaml-map.ts';

/** GitLab's limit of `extends` upon `extends`. */
const LEVELS_MAX = 11;

/** Resolves `extends` in every job and template; later parents win over earlier ones, the job over all. */
export function resolveExtends(config: YamlMap, problems: string[], budget: WorkBudget): YamlMap {
  const resolved = new Map<string, unknown>();
  return Object.fromEntries(Object.keys(config).map((name) => [name, resolve(name, [])]));

  function resolve(name: string, from: readonly string[]): unknown {
    const entry = config[name];
    if (!isMap(entry) || entry.extends === undefined) return entry;
    if (resolved.has(name)) return resolved.get(name);
    const chain = [...from, name];
    const { extends: parents, ...own } = entry;
    let merged: YamlMap = {};
    for (const parent of [parents].flat()) {
      const base = parentOf(String(parent), chain);
      if (base !== undefined) merged = deepMerge(merged, base, budget, name);
    }
    const whole = deepMerge(merged, own, budget, name);
    resolved.set(name, whole);
    return whole;
  }

  function parentOf(parent: string, chain: readonly string[]): YamlMap | undefined {
    const child = chain.at(-1);
    if (chain.includes(parent)) {
      problems.push(`${child}: extends ${parent}, which extends it in turn`);
      return undefined;
    }
    if (chain.length >= LEVELS_MAX) {
      problems.push(`${child}: more than ${LEVELS_MAX} levels of extends`);
      return undefined;
    }
    const base = resolve(parent, chain);
    if (isMap(base)) return base;
    problems.push(`${child}: extends ${parent}, which is in none of the files read`);
    return undefined;
  }
}
