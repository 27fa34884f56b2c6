import { type GroupDefaults, groupDefaultsOf, type PatternDefault } from '../limits/group-defaults.ts';
import { LIMIT_KEYS, type LimitDefaults, readLimit } from './parse-limit.ts';
import { readWildcard } from './parse-wildcard.ts';
import type { Reading } from './reading.ts';

/** Every group of every job is compared with all of them, once. */
export const GROUP_DEFAULTS_MAX = 200;

/** Reads `group_defaults: [{groups: 'acme/team-*', money: 50, per: month}]`; undefined: there are none. */
export function readGroupDefaults(reading: Reading, defaults: LimitDefaults): GroupDefaults | undefined {
  const all: PatternDefault[] = [];
  for (const each of reading.list('limits', GROUP_DEFAULTS_MAX)) {
    if (!each.object(['groups', ...LIMIT_KEYS])) continue;
    const groups = readWildcard(each.at('groups'));
    const limit = readLimit(each, '', defaults);
    if (groups === undefined || limit === undefined) continue;
    if (all.some((other) => other.groups.pattern === groups.pattern && other.limit.id === limit.id))
      each.refuse(
        `is a second limit '${limit.id}' of ${groups.pattern}; give each an id of its own, or keep one`,
      );
    all.push({ groups, limit });
  }
  return all.length === 0 ? undefined : groupDefaultsOf(all);
}
