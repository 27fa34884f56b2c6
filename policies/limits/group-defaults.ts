import { remembering } from '../match/remember.ts';
import type { Wildcard } from '../match/wildcard.ts';
import type { LimitKind } from '../unit.ts';
import type { Limit } from './limit.ts';

export interface PatternDefault {
  readonly groups: Wildcard;
  readonly limit: Limit;
}

export interface GroupDefaults {
  readonly all: readonly PatternDefault[];
  /** Those for a group at this full path: the ones of each kind from the first pattern that matches. */
  readonly at: (path: string) => readonly Limit[];
}

export const groupDefaultsOf = (all: readonly PatternDefault[]): GroupDefaults => ({
  all,
  at: remembering((path) => defaultsAt(all, path)),
});

function defaultsAt(all: readonly PatternDefault[], path: string): readonly Limit[] {
  const patternOf = new Map<LimitKind, string>();
  const limits: Limit[] = [];
  for (const { groups, limit } of all) {
    const first = patternOf.get(limit.kind);
    if (first === undefined ? !groups.matches(path) : first !== groups.pattern) continue;
    patternOf.set(limit.kind, groups.pattern);
    limits.push(limit);
  }
  return limits;
}

export function mostDefaults({ all }: GroupDefaults): number {
  const byKindAndPattern = new Map<LimitKind, Map<string, number>>();
  for (const { groups, limit } of all) {
    if (limit.mode === 'off' || limit.amount === 'unlimited') continue;
    const counts = byKindAndPattern.get(limit.kind) ?? new Map<string, number>();
    byKindAndPattern.set(limit.kind, counts.set(groups.pattern, (counts.get(groups.pattern) ?? 0) + 1));
  }
  return [...byKindAndPattern.values()].reduce((sum, counts) => sum + Math.max(...counts.values()), 0);
}
