/** How one group's month went, hour by hour: what the chart shows. */
import { counterName } from '../../policies/claim.ts';
import { limitsOfGroup } from '../../policies/limits/levels.ts';
import { counterOf, type LimitSet } from '../../policies/limits/limits.ts';
import type { PlannedJob } from './draw-jobs.ts';
import type { Workload } from './draw-workload.ts';
import { trueMicros } from './true-cost.ts';
import type { CounterSums, WatchedStore } from './watched-store.ts';
import { MONTH_START_MS } from './workload.ts';

export interface Course {
  readonly path: string;
  readonly limitMicros: number;
  readonly hours: readonly HourOfCourse[];
}

export interface HourOfCourse {
  readonly atMs: number;
  readonly spentMicros: number;
  /** At its highest within the hour, on top of what is spent at its end. */
  readonly heldMicros: number;
  /** In the hour before. */
  readonly rejections: number;
}

export class CourseOfGroup {
  readonly #groupId: number;
  readonly #path: string;
  readonly #limitMicros: number;
  readonly #counter: string;
  readonly #workload: Workload;
  readonly #store: WatchedStore;
  readonly #hours: HourOfCourse[] = [];
  #rejections = 0;
  #highestMicros = 0;

  constructor(workload: Workload, { limits }: { readonly limits: LimitSet }, store: WatchedStore) {
    const { id, path, limit } = tightestGroup(workload, limits);
    this.#groupId = id;
    this.#path = path;
    this.#limitMicros = typeof limit.amount === 'number' ? limit.amount : 0;
    this.#counter = counterName(counterOf(limit, MONTH_START_MS));
    this.#workload = workload;
    this.#store = store;
  }

  rejected({ project }: PlannedJob): void {
    if (this.#workload.places.projects[project]?.groupIds.includes(this.#groupId)) this.#rejections += 1;
  }

  /** Often, so that holds of some minutes are seen. */
  look(): void {
    this.#highestMicros = Math.max(this.#highestMicros, this.#sums().committed);
  }

  /** Every hour. */
  sample(atMs: number): void {
    const { committed, settled } = this.#sums();
    const heldMicros = Math.max(0, this.#highestMicros - settled);
    this.#hours.push({ atMs, spentMicros: settled, heldMicros, rejections: this.#rejections });
    this.#rejections = 0;
    this.#highestMicros = committed;
  }

  #sums(): CounterSums {
    return this.#store.counters.get(this.#counter) ?? { committed: 0, settled: 0 };
  }

  get course(): Course {
    return { path: this.#path, limitMicros: this.#limitMicros, hours: this.#hours };
  }
}

/** A group of level 2 (large enough to look at) whose month's budget is the smallest share of what it would need. */
function tightestGroup({ places, jobs }: Workload, limits: LimitSet) {
  const need = new Map<number, number>();
  for (const job of jobs) {
    const middle = places.projects[job.project]?.groupIds[1] ?? 0;
    need.set(middle, (need.get(middle) ?? 0) + trueMicros(job));
  }
  const candidates = places.groups.flatMap(({ id, path, level }) => {
    const ofGroup = limitsOfGroup(limits, { id, path, personal: false }, MONTH_START_MS);
    const limit = ofGroup.find(({ kind, per }) => kind === 'money' && per === 'month');
    if (level !== 2 || limit === undefined || typeof limit.amount !== 'number') return [];
    return [{ id, path, limit, share: limit.amount / (need.get(id) ?? 1) }];
  });
  const [tightest] = candidates.sort((a, b) => a.share - b.share);
  if (tightest === undefined) throw new RangeError('no group of level 2 has a budget per month');
  return tightest;
}
