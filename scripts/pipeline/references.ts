import { isMap, Reference, type YamlMap } from './yaml-source.ts';

/** GitLab's limit of references inside references. */
const DEPTH_MAX = 10;

/**
 * Puts the values in the place of `!reference`, after `extends` as GitLab does. A list inside a list is spliced in.
 * A reference to nothing is dropped and named in `problems`, with the job it stands in.
 */
export function resolveReferences(config: YamlMap, problems: string[]): YamlMap {
  return Object.fromEntries(
    Object.entries(config).map(([name, entry]) => {
      const resolved = resolve(entry, name, 0);
      return [name, resolved === NOTHING ? undefined : resolved];
    }),
  );

  function resolve(value: unknown, job: string, depth: number): unknown {
    if (value instanceof Reference) return follow(value, job, depth);
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
      problems.push(`${job}: ${name} is more than ${DEPTH_MAX} references deep`);
      return NOTHING;
    }
    let value: unknown = config;
    for (const key of reference.path) value = isMap(value) ? value[key] : undefined;
    if (value !== undefined) return resolve(value, job, depth + 1);
    problems.push(`${job}: ${name} is in none of the files read`);
    return NOTHING;
  }
}

const NOTHING = Symbol('nothing');
