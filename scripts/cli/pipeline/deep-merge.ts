import type { WorkBudget } from './work-budget.ts';
import { isMap, type YamlMap } from './yaml-map.ts';

/**
 * Merges as GitLab does for `include` and `extends`: mappings key by key, everything else replaced, null included.
 *
 * @param place - the file or job the merge is for.
 */
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
