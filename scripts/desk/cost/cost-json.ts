import type { Costing, CostQuestion } from './costing.ts';
import { dollars, type Line } from './line.ts';

/** For programs: `lines[].quantity` is a month's for `always`, one admission's for the other parts; amounts are US dollars. */
export function costJson(costing: Costing, question: CostQuestion) {
  const { prices, always, perJob, ...totals } = costing;
  const lineJson = (line: Line) => ({
    ...line,
    unit: prices[line.price].unit,
    usd: dollars(line, prices),
  });
  return { question, totals, lines: [...always, ...perJob].map(lineJson), prices };
}
