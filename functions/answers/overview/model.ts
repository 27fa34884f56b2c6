import type { GroupSum, UsedInMonth } from '../../core/usage/group-sum.ts';
import type { FreezeRow, LimitRow } from '../standing/model.ts';

/**
 * `runs-out-first`: by when the money is gone, what is gone already first, and what only watches after what rejects jobs;
 * `spent`: most first; `name`: by path.
 */
export type OverviewSort = 'runs-out-first' | 'spent' | 'name';

export interface OverviewAsked {
  /** Part of the path, any case; at most 200 characters. */
  readonly search?: string;
  /** @default `runs-out-first` */
  readonly sort?: OverviewSort;
  /** Only the children of this group: one step of the tree. `roots`: the topmost groups the viewer sees. */
  readonly under?: number | 'roots';
  /** Only those the viewer owns. */
  readonly mine?: boolean;
  /** `next` or `previous` of a page with the same questions. */
  readonly cursor?: string;
  /** 1–100. @default 50 */
  readonly max?: number;
}

export interface Overview {
  /** The set of limits it shows; undefined: none was ever made live. */
  readonly set: string | undefined;
  readonly currency: string;
  readonly nowMs: number;
  /** When the oldest of the numbers that decided the order was read; numbers of rows are of `nowMs`. */
  readonly orderedAtMs: number;
  /** When the group list was last read from GitLab; undefined: never. */
  readonly directoryAtMs?: number;
  readonly rows: readonly GroupRow[];
  /** Lines that match, in all. */
  readonly total: number;
  /** Of `total`: projects, runner classes, runners and users with limits of their own. */
  readonly others: number;
  /** 1-based number of the first row. */
  readonly first: number;
  readonly next?: string;
  readonly previous?: string;
  /** Groups without a budget of which usage was not read for the order: they come last, by path. */
  readonly unranked: number;
  /** The whole instance; only for who sees all. */
  readonly instance?: GroupRow;
  /** Set for a step of the tree: with it the `metered` of the rows come to what the group above them used. */
  readonly sum?: GroupSum;
}

export interface GroupRow {
  /** `group/101`, `project/7`, `runner-class/large`, `runner/41`, `user/5`, `instance` */
  readonly subject: string;
  /** Only a group has one. */
  readonly groupId?: number;
  readonly parentId?: number;
  /** Full path of a group or project, name of a class; `The whole GitLab` for the instance. */
  readonly path: string;
  /** Levels above it that the viewer sees: 0 is the top of their tree. */
  readonly depth: number;
  /** Groups right below it. */
  readonly children: number;
  readonly personal: boolean;
  /**
   * The budget that runs out first, of money or minutes, of those that reject jobs; one that only watches where there is no
   * other. Absent: it has none, see `metered`.
   */
  readonly budget?: LimitRow;
  /** How many other limits it has in force. */
  readonly others: number;
  /** What it used this month, whatever its budgets count. */
  readonly metered: Metered;
  /** Nothing of it starts now. */
  readonly frozen?: FreezeRow;
  /** Grants in force or to come, on all of its limits. */
  readonly grants: number;
  /** It is given to its children more than once: whoever comes first has it. */
  readonly pool?: PoolNote;
}

export interface PoolNote {
  /** What the closest limits below come to. */
  readonly childrenAmount: number;
  readonly children: number;
  /** Of `children`: they are not in the sum. */
  readonly unlimited: number;
  /** Paths of children whose own limit is larger than this one, or unlimited: this one binds them. At most ten. */
  readonly larger: readonly string[];
}

export interface Metered extends UsedInMonth {
  readonly sinceDay: string;
}
