import { isMap, type YamlMap } from './yaml-source.ts';

/** Merges as GitLab does for `include` and `extends`: mappings key by key, everything else replaced, null included. */
export function deepMerge(under: YamlMap, over: YamlMap): YamlMap {
  const merged: Record<string, unknown> = { ...under };
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key];
    merged[key] = isMap(below) && isMap(value) ? deepMerge(below, value) : value;
  }
  return merged;
}
