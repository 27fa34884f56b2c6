import { limitAmountText, numberText } from './amount-text.ts';
import { busiestBudgets, type Figures, type GroupBudget } from './figures.ts';

const BUDGETS_SHOWN = 3;
const BAR_WIDTH = 20;

/** The lines that stand below the decisions on a terminal and change. */
export function liveLines(figures: Figures, currency: string): readonly string[] {
  const { decided, total, running, timeMs, limits } = figures;
  const budgets = busiestBudgets(limits, BUDGETS_SHOWN);
  const width = (text: (budget: GroupBudget) => string): number =>
    Math.max(0, ...budgets.map((budget) => text(budget).length));
  const cells: readonly ((budget: GroupBudget) => string)[] = [
    ({ subject }) => subject,
    ({ spent, unit }) => numberText(spent, unit),
    ({ held, unit }) => numberText(held, unit),
    ({ limitAmount, unit }) => limitAmountText(limitAmount, unit, currency),
  ];
  const [subject = 0, spent = 0, held = 0, limit = 0] = cells.map(width);
  const told = total === undefined ? `${decided} decided` : `${decided} of ${total} decided`;
  return [
    `${told}, ${running} ${running === 1 ? 'job runs' : 'jobs run'}, ${clockText(timeMs)} by the jobs' clock`,
    ...budgets.map((budget) => {
      const [a = '', b = '', c = '', d = ''] = cells.map((cell) => cell(budget));
      return `${a.padEnd(subject)}  ${b.padStart(spent)} spent + ${c.padStart(held)} held of ${d.padStart(limit)}  ${splitBar(budget)}`;
    }),
  ];
}

/** The same on one line, for logs. */
export function figureLine(figures: Figures, currency: string): string {
  const budgets = busiestBudgets(figures.limits, BUDGETS_SHOWN).map(
    ({ subject, spent, held, limitAmount, unit }) =>
      `${subject} ${numberText(spent, unit)} spent + ${numberText(held, unit)} held of ${limitAmountText(limitAmount, unit, currency)}`,
  );
  const seconds = `${Math.round(figures.elapsedMs / 1000)} s`;
  return [`~ ${seconds}`, ...budgets, `${figures.running} jobs run`].join(' · ');
}

/** Spent, then held, then free. */
function splitBar({ spent, held, limitAmount }: GroupBudget): string {
  const cells = (amount: number): number =>
    limitAmount === 0
      ? BAR_WIDTH
      : Math.min(BAR_WIDTH, Math.max(0, Math.round((amount / limitAmount) * BAR_WIDTH)));
  const full = cells(spent);
  const upTo = Math.max(full, cells(spent + held));
  return '█'.repeat(full) + '▒'.repeat(upTo - full) + '░'.repeat(BAR_WIDTH - upTo);
}

/** `21 Nov 14:32`, in the zone of whoever watches. */
const clockText = (timeMs: number): string =>
  new Date(timeMs).toLocaleString('en-GB', {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  });
