import { refused, type UnreadNotes, type WorkBudget } from './pipeline-error.ts';
import type { Missing } from './pipeline-world.ts';
import { isMap, Reference, type YamlMap } from './yaml-map.ts';

interface ResolveOptions {
  readonly missing: Missing;
  readonly unread: UnreadNotes;
  readonly budget: WorkBudget;
}

const DEPTH_MAX = 10;

/**
 * Puts the values in the place of `!reference`, after `extends` as GitLab does. A list inside a list is spliced in.
 * A reference to nothing that was read is dropped, and its job noted as unread.
 *
 * @throws {PipelineError} if references to references multiply beyond the budget.
 */
export function resolveReferences(config: YamlMap, { missing, unread, budget }: ResolveOptions): YamlMap {
  const hasReference = referenceFinder();
  /** Result and work of each reference: repeated use costs budget, without repeated work. */
  const followed = new Map<string, { readonly value: unknown; readonly size: number }>();
  const whole = Object.entries(config).map(([name, entry]) => [name, resolve(entry, name, 0)] as const);
  return Object.fromEntries(whole.map(([name, value]) => [name, value === NOTHING ? undefined : value]));

  function resolve(value: unknown, job: string, depth: number): unknown {
    budget.spend(1, job);
    if (value instanceof Reference) return follow(value, job, depth);
    if (!hasReference(value)) return value;
    if (Array.isArray(value)) {
      return value.flatMap((item) => {
        const resolved = resolve(item, job, depth);
        if (resolved === NOTHING) return [];
        return item instanceof Reference && Array.isArray(resolved) ? resolved : [resolved];
      });
    }
    if (!isMap(value)) return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, item]) => {
        const resolved = resolve(item, job, depth);
        return resolved === NOTHING ? [] : [[key, resolved]];
      }),
    );
  }

  function follow(reference: Reference, job: string, depth: number): unknown {
    const name = `!reference [${reference.path.join(', ')}]`;
    if (depth >= DEPTH_MAX) {
      unread.note(job, `${name} is more than ${DEPTH_MAX} references deep`);
      return NOTHING;
    }
    const [source] = reference.path;
    if (source !== undefined) unread.takesFrom(job, source);
    const before = followed.get(name);
    if (before !== undefined) {
      budget.spend(before.size, job);
      return before.value;
    }
    let value: unknown = config;
    for (const key of reference.path) value = isMap(value) ? value[key] : undefined;
    if (value === undefined) {
      missing(job, `${name} is in none of the files read`);
      return NOTHING;
    }
    const { used } = budget;
    const resolved = resolve(value, job, depth + 1);
    followed.set(name, { value: resolved, size: budget.used - used });
    return resolved;
  }
}

function referenceFinder(): (value: unknown) => boolean {
  const found = new WeakMap<object, boolean>();
  return function hasReference(value): boolean {
    if (value instanceof Reference) return true;
    if (typeof value !== 'object' || value === null) return false;
    const before = found.get(value);
    if (before !== undefined) return before;
    const has = Object.values(value).some(hasReference);
    found.set(value, has);
    return has;
  };
}

const NOTHING = Symbol('nothing');

const LEVELS_MAX = 11;

/** Later parents win over earlier ones, the job over all. @throws {PipelineError} `refused` for circles and too many levels */
export function resolveExtends(config: YamlMap, { missing, unread, budget }: ResolveOptions): YamlMap {
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
    if (parent === child) throw refused('extends itself', child);
    if (chain.includes(parent)) throw refused(`extends ${parent}, which extends it in turn`, child);
    if (chain.length > LEVELS_MAX) throw refused(`has more than ${LEVELS_MAX} levels of extends`, child);
    const base = resolve(parent, chain);
    if (isMap(base)) return base;
    missing(child, `extends ${parent}, which is in none of the files read`);
    return undefined;
  }
}

export function deepMerge(under: YamlMap, over: YamlMap, budget: WorkBudget, place: string): YamlMap {
  const overEntries = Object.entries(over);
  budget.spend(Object.keys(under).length + overEntries.length, place);
  const merged: Record<string, unknown> = { ...under };
  for (const [key, value] of overEntries) {
    const below = merged[key];
    merged[key] = isMap(below) && isMap(value) ? deepMerge(below, value, budget, place) : value;
  }
  return merged;
}
