import type { Costing, CostQuestion } from './costing.ts';
import { type CostLine, dollars } from './line.ts';

/** For programs: `lines[].quantity` is a month's for `always` and `desk`, one admission's for the other parts; amounts are US dollars. */
export function costJson(costing: Costing, question: CostQuestion) {
  const { prices, always, desk, perJob, ...totals } = costing;
  const lineJson = (line: CostLine) => ({
    ...line,
    unit: prices[line.price].unit,
    usd: dollars(line, prices),
  });
  return { question, totals, lines: [...always, ...desk, ...perJob].map(lineJson), prices };
}
