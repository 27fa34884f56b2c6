import { unitRow } from '../../policies/units/unit.ts';
import type { LimitSummary } from './summary.ts';

/** How things stand at a moment of the run. */
export interface Figures {
  /** Since the first question, real ms. */
  readonly elapsedMs: number;
  /** The time of day jobs live by, Unix ms. */
  readonly timeMs: number;
  readonly decided: number;
  readonly total: number | undefined;
  /** Jobs that run, or wait for their answer. */
  readonly running: number;
  readonly limits: readonly LimitSummary[];
}

/** A group's own budget. */
export interface GroupBudget extends LimitSummary {
  readonly limitAmount: number;
}

/** The budgets that are used most, at most so many, in the order of the document. */
export function busiestBudgets(limits: readonly LimitSummary[], count: number): readonly GroupBudget[] {
  const budgets = limits.filter(
    (limit): limit is GroupBudget =>
      unitRow(limit.unit).inCurrency === true &&
      limit.mode === 'enforce' &&
      typeof limit.limitAmount === 'number',
  );
  const busiest = new Set(budgets.toSorted((a, b) => shareOf(b) - shareOf(a)).slice(0, count));
  return budgets.filter((budget) => busiest.has(budget));
}

const shareOf = ({ spent, held, limitAmount }: GroupBudget): number =>
  limitAmount === 0 ? 1 : (spent + held) / limitAmount;
