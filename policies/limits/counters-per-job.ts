import type { Directory } from '../directory.ts';
import { isCap, placeOfSubject } from './cap.ts';
import { mostCohortCounters } from './cohort.ts';
import { mostDefaults } from './group-defaults.ts';
import type { Limit } from './limit.ts';
import { defaultsOf, type LimitSet, limitsOn, withDefaults } from './limits.ts';

/** The ledger packs whole jobs into transactions of 100 items; this leaves room for several jobs in one. */
export const COUNTERS_PER_JOB_MAX = 24;

interface MostCounters {
  readonly counters: number;
  readonly group?: string;
}

/**
 * Returns the most counters of one job. Without a directory, a job is placed by its root and its own group,
 * so the two heaviest groups are used.
 */
export function mostCountersPerJob(limits: LimitSet, directory: Directory | undefined): MostCounters {
  const caps = capCounters(limits);
  const around = (['project/', 'runner-class/', 'runner/', 'user/'] as const)
    .map((kind) => heaviest(limits, kind, caps)[0] ?? 0)
    .reduce(
      (sum, each) => sum + each,
      counted(limitsOn(limits, 'instance'), limits) +
        (caps.get('instance') ?? 0) +
        pipelines(limits) +
        (limits.breakGlasses === undefined ? 0 : 1),
    );
  if (directory === undefined) {
    const [first = 0, second = 0] = heaviest(limits, 'group/', caps);
    const byDefault = limits.groupDefaults === undefined ? 0 : 2 * mostDefaults(limits.groupDefaults);
    return { counters: around + first + second + byDefault };
  }
  let most: MostCounters = { counters: around };
  for (const chain of directory.chainById.values()) {
    let counters = around;
    for (const group of chain) {
      const subject = `group/${group.id}`;
      counters += caps.get(subject) ?? 0;
      counters += counted(
        withDefaults(limitsOn(limits, subject), defaultsOf(limits, group), subject),
        limits,
      );
    }
    const own = chain.at(-1);
    if (counters > most.counters && own !== undefined) most = { counters, group: own.path };
  }
  return most;
}

function heaviest(limits: LimitSet, kind: string, caps: ReadonlyMap<string, number>): readonly number[] {
  const counts = new Map([...caps].filter(([place]) => place.startsWith(kind)));
  for (const [subject, list] of limits.bySubject)
    if (subject.startsWith(kind) && !isCap(subject))
      counts.set(subject, counted(list, limits) + (caps.get(subject) ?? 0));
  return [...counts.values()].sort((a, b) => b - a);
}

function capCounters(limits: LimitSet): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [subject, list] of limits.bySubject) {
    if (!isCap(subject)) continue;
    const place = placeOfSubject(subject);
    counts.set(place, (counts.get(place) ?? 0) + counted(list, limits));
  }
  return counts;
}

/** A limit with grace counts the jobs of the pipeline, too: one more counter, however many such limits a job has. */
function pipelines(limits: LimitSet): number {
  const byPattern = limits.groupDefaults?.all.map(({ limit }) => limit) ?? [];
  const lists = [...limits.bySubject.values(), limits.personalDefault, byPattern];
  return lists.some((list) => list.some((limit) => limit.graceAmount !== undefined)) ? 1 : 0;
}

/** `off` and `unlimited` need no counter. A limit of 0 does: what runs all the same is in the books. */
const counted = (limits: readonly Limit[], set: LimitSet): number =>
  limits.reduce(
    (sum, limit) =>
      limit.mode === 'off' || limit.amount === 'unlimited' ? sum : sum + 1 + mostCohortCounters(limit, set),
    0,
  );
