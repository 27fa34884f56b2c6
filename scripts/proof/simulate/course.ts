/** How one group's month went, hour by hour: what the chart shows. */
import type { DatedEdition } from './draw-editions.ts';
import type { PlannedJob } from './draw-jobs.ts';
import type { Workload } from './draw-workload.ts';
import type { WrittenLimit } from './expected/edition.ts';
import { periodName } from './expected/period-name.ts';
import { type CounterSums, NO_SUMS } from './expected/verdict.ts';
import { trueMicros } from './true-cost.ts';
import type { WatchedStore } from './watched-store.ts';
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

  constructor(workload: Workload, editions: readonly DatedEdition[], store: WatchedStore) {
    const { id, path, limit, amount } = tightestGroup(workload, editions);
    this.#groupId = id;
    this.#path = path;
    this.#limitMicros = amount;
    this.#counter = `${limit.subject}|${limit.id}|${periodName(limit, MONTH_START_MS)}`;
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
    return this.#store.counters.get(this.#counter) ?? NO_SUMS;
  }

  get course(): Course {
    return { path: this.#path, limitMicros: this.#limitMicros, hours: this.#hours };
  }
}

/**
 * A group of level 2 (large enough to look at) whose month's budget is the smallest share of what it would need, and if
 * there is one, whose budget and place nobody changes.
 */
function tightestGroup({ places, jobs }: Workload, editions: readonly DatedEdition[]) {
  const need = new Map<number, number>();
  for (const job of jobs) {
    const middle = places.projects[job.project]?.groupIds[1] ?? 0;
    need.set(middle, (need.get(middle) ?? 0) + trueMicros(job, job.askedAtMs));
  }
  const candidates = places.groups.flatMap(({ id, path, level }) => {
    if (level !== 2) return [];
    const [first, ...later] = editions.map((dated) => budgetOf(id, dated));
    if (first === undefined || typeof first.amount !== 'number') return [];
    const isChanged =
      later.some((limit) => limit?.amount !== first.amount) ||
      editions.some(
        ({ edition }) =>
          edition.grants.some(({ subject }) => subject === first.subject) ||
          edition.parentOf.get(id) !== editions[0]?.edition.parentOf.get(id),
      );
    const share = first.amount / (need.get(id) ?? 1);
    return [{ id, path, limit: first, amount: first.amount, isChanged, share }];
  });
  const [tightest] = candidates.sort(
    (a, b) => Number(a.isChanged) - Number(b.isChanged) || a.share - b.share,
  );
  if (tightest === undefined) throw new RangeError('no group of level 2 has a budget per month');
  return tightest;
}

const budgetOf = (groupId: number, { edition }: DatedEdition): WrittenLimit | undefined =>
  edition.limits.find(({ subject, id }) => subject === `group/${groupId}` && id === 'money-month');
