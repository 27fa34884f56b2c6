import { deepMerge } from './deep-merge.ts';
import { PipelineError } from './pipeline-error.ts';
import { type Missing, NO_PIPELINE } from './refusals.ts';
import type { UnreadNotes } from './unread.ts';
import type { WorkBudget } from './work-budget.ts';
import { isMap, type YamlMap } from './yaml-map.ts';

/** GitLab's limit of `extends` upon `extends`. */
const LEVELS_MAX = 11;

/**
 * Resolves `extends` in every job and template; later parents win over earlier ones, the job over all.
 *
 * @throws {PipelineError} `refused` for what extends itself, or extends too many levels.
 */
export function resolveExtends(
  config: YamlMap,
  { missing, unread, budget }: { missing: Missing; unread: UnreadNotes; budget: WorkBudget },
): YamlMap {
  const resolved = new Map<string, unknown>();
  return Object.fromEntries(Object.keys(config).map((name) => [name, resolve(name, [])]));

  function resolve(name: string, from: readonly string[]): unknown {
    const entry = config[name];
    if (!isMap(entry) || entry.extends === undefined) return entry;
    if (resolved.has(name)) return resolved.get(name);
    const chain = [...from, name];
    const { extends: parents, ...own } = entry;
    let merged: YamlMap = {};
    for (const parent of parents === null ? [] : [parents].flat()) {
      unread.takesFrom(name, String(parent));
      const base = parentOf(String(parent), chain, name);
      if (base !== undefined) merged = deepMerge(merged, base, budget, name);
    }
    const whole = deepMerge(merged, own, budget, name);
    resolved.set(name, whole);
    return whole;
  }

  function parentOf(parent: string, chain: readonly string[], child: string): YamlMap | undefined {
    if (parent === child) throw refused(child, `extends itself`);
    if (chain.includes(parent)) throw refused(child, `extends ${parent}, which extends it in turn`);
    if (chain.length > LEVELS_MAX) throw refused(child, `has more than ${LEVELS_MAX} levels of extends`);
    const base = resolve(parent, chain);
    if (isMap(base)) return base;
    missing(child, `extends ${parent}, which is in none of the files read`);
    return undefined;
  }
}

const refused = (entry: string, what: string): PipelineError =>
  new PipelineError('refused', `${what}; ${NO_PIPELINE}`, entry);
