import type { LimitRow } from '../standing/model.ts';

export interface BudgetsAsked {
  /** Only this subject's own limits and those of everything below it. */
  readonly below?: string;
  /** Only the limits that hold for this subject's jobs: its own, then those of everything above, the closest first. */
  readonly holding?: string;
  /** Only limits of which at least so much is settled and held, whole percent. */
  readonly percentMin?: number;
  /** Also when they run out; unless `holding` asks for one order, what runs out first then comes first. */
  readonly forecast?: boolean;
  /** `next` of the page before, with the same questions. */
  readonly cursor?: string;
  /** 1–1000. @default 100 */
  readonly max?: number;
}

/** Limits in force and how they stand. */
export interface Budgets {
  /** Absent: no set was ever made live, and these are the limits packed with the deployment. */
  readonly set?: string;
  readonly currency: string;
  readonly nowMs: number;
  /** The fullest first, unless asked otherwise. */
  readonly rows: readonly BudgetRow[];
  /** Limits that match, in all. */
  readonly total: number;
  readonly next?: string;
  /** Only so many of the fullest are forecast. */
  readonly forecastMax: number;
}

export interface BudgetRow extends LimitRow {
  /** Full path of a group or project, name of a class; `The whole GitLab` for the instance. */
  readonly path: string;
  /** Whether it can run out at all: an amount of money, minutes or starts, for a day or longer. */
  readonly canRunOut: boolean;
}
