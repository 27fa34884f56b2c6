/** One group's month by hour, for the chart. */
import type { Books } from '../books.ts';
import { groupChainOf, periodName, type RuleSet, type WrittenLimit } from '../rulebook/rule-set.ts';
import { type MonthJob, trueMicros, type Workload } from './draw.ts';
import { MONTH_START_MS } from './shape.ts';

export interface Course {
  readonly path: string;
  readonly limitMicros: number;
  readonly hours: readonly HourOfCourse[];
}

export interface HourOfCourse {
  readonly atMs: number;
  readonly spentMicros: number;
  /** The highest within the hour, on top of what is spent at its end. */
  readonly heldMicros: number;
  /** In the hour before. */
  readonly rejections: number;
}

export class GroupCourse {
  readonly #groupId: number;
  readonly #counter: string;
  readonly #books: Books;
  readonly #hours: HourOfCourse[] = [];
  readonly #shown: Pick<Course, 'path' | 'limitMicros'>;
  #rejections = 0;
  #highestMicros = 0;

  constructor(workload: Workload, ruleSets: readonly RuleSet[], books: Books) {
    const { id, limit, amount } = tightestGroup(workload, ruleSets);
    const names = new Map(workload.groups.map((group) => [group.id, group.name]));
    const chain = groupChainOf(id, ruleSets[0]?.parentOf ?? new Map());
    this.#shown = { path: chain.map((each) => names.get(each)).join('/'), limitMicros: amount };
    this.#groupId = id;
    this.#counter = `${limit.subject}|${limit.id}|${periodName(limit, MONTH_START_MS)}`;
    this.#books = books;
  }

  rejected({ project }: MonthJob): void {
    if (project.groupIds.includes(this.#groupId)) this.#rejections += 1;
  }

  /** Often, so that holds of some minutes are seen. */
  look(): void {
    this.#highestMicros = Math.max(this.#highestMicros, this.#amounts()[0] ?? 0);
  }

  /** Every hour. */
  sample(atMs: number): void {
    const [committed = 0, , settled = 0] = this.#amounts();
    const heldMicros = Math.max(0, this.#highestMicros - settled);
    this.#hours.push({ atMs, spentMicros: settled, heldMicros, rejections: this.#rejections });
    this.#rejections = 0;
    this.#highestMicros = committed;
  }

  get course(): Course {
    return { ...this.#shown, hours: this.#hours };
  }

  #amounts(): readonly number[] {
    return this.#books.counters.get(this.#counter) ?? [];
  }
}

/** The group of level 2 with the smallest share of its demand as budget, if possible one that no edit touches. */
function tightestGroup({ groups, jobs }: Workload, ruleSets: readonly RuleSet[]) {
  const demand = new Map<number, number>();
  for (const job of jobs) {
    const [, middle] = job.project.groupIds;
    demand.set(middle, (demand.get(middle) ?? 0) + trueMicros(job, job.askedAtMs));
  }
  const candidates = groups.flatMap(({ id, level }) => {
    if (level !== 2) return [];
    const [first, ...later] = ruleSets.map((ruleSet) => budgetOf(id, ruleSet));
    if (first === undefined || typeof first.amount !== 'number') return [];
    const isChanged =
      later.some((limit) => limit?.amount !== first.amount) ||
      ruleSets.some(
        ({ grants, parentOf }) =>
          grants.some(({ subject }) => subject === first.subject) ||
          parentOf.get(id) !== ruleSets[0]?.parentOf.get(id),
      );
    return [
      { id, limit: first, amount: first.amount, isChanged, share: first.amount / (demand.get(id) ?? 1) },
    ];
  });
  const [tightest] = candidates.sort(
    (a, b) => Number(a.isChanged) - Number(b.isChanged) || a.share - b.share,
  );
  if (tightest === undefined) throw new RangeError('no group of level 2 has a budget per month');
  return tightest;
}

const budgetOf = (groupId: number, { limits }: RuleSet): WrittenLimit | undefined =>
  limits.find(({ subject, id }) => subject === `group/${groupId}` && id === 'money-month');
