import type { Directory } from '../directory.ts';
import { placeOfSubject } from './cap.ts';
import { mostCohortCounters } from './cohort.ts';
import type { Limit } from './limit.ts';
import { defaultsOf, type LimitSet, limitsOn, mostDefaults, withDefaults } from './limits.ts';

/** The ledger packs whole jobs into transactions of 100 items; this leaves room for several jobs in one. */
export const COUNTERS_PER_JOB_MAX = 24;

/** Returns the most counters of one job, and the group whose jobs have them. Without a directory two groups are above a job. */
export function mostCountersPerJob(
  limits: LimitSet,
  directory: Directory | undefined,
): { readonly counters: number; readonly group?: string } {
  const byPlace = new Map<string, number>();
  for (const [subject, list] of limits.bySubject) {
    const place = placeOfSubject(subject);
    byPlace.set(place, (byPlace.get(place) ?? 0) + counted(list, limits));
  }
  const heaviest = (kind: string): readonly number[] =>
    [...byPlace].flatMap(([place, count]) => (place.startsWith(kind) ? count : [])).sort((a, b) => b - a);
  let around = (byPlace.get('instance') ?? 0) + (hasGrace(limits) ? 1 : 0);
  if (limits.breakGlasses !== undefined) around += 1;
  for (const kind of ['project/', 'runner-class/', 'runner/', 'user/']) around += heaviest(kind)[0] ?? 0;
  if (directory === undefined) {
    const [first = 0, second = 0] = heaviest('group/');
    const byDefault = limits.groupDefaults === undefined ? 0 : 2 * mostDefaults(limits.groupDefaults);
    return { counters: around + first + second + byDefault };
  }
  let most: ReturnType<typeof mostCountersPerJob> = { counters: around };
  for (const chain of directory.chainById.values()) {
    let counters = around;
    for (const group of chain) {
      const subject = `group/${group.id}`;
      const own = limitsOn(limits, subject);
      const inherited = withDefaults(own, defaultsOf(limits, group), subject).slice(own.length);
      counters += (byPlace.get(subject) ?? 0) + counted(inherited, limits);
    }
    const own = chain.at(-1);
    if (counters > most.counters && own !== undefined) most = { counters, group: own.path };
  }
  return most;
}

/** A limit with grace counts the jobs of the pipeline, too: one more counter, however many such limits a job has. */
function hasGrace(limits: LimitSet): boolean {
  const byPattern = limits.groupDefaults?.all.map(({ limit }) => limit) ?? [];
  const all = [...limits.bySubject.values(), limits.personalDefault, byPattern].flat();
  return all.some(({ graceAmount }) => graceAmount !== undefined);
}

/** `off` and `unlimited` need no counter. A limit of 0 does: what runs all the same is in the books. */
const counted = (limits: readonly Limit[], set: LimitSet): number =>
  limits.reduce(
    (sum, limit) =>
      limit.mode === 'off' || limit.amount === 'unlimited' ? sum : sum + 1 + mostCohortCounters(limit, set),
    0,
  );
