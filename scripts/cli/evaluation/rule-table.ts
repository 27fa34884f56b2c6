import type { RuleResult } from '../../../functions/answers/job/rule-results.ts';
import { type Paint, printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { ruleTextOf } from './rule-text.ts';

/** Every rule with its mode, what became of it and why; a rule with more to say takes more lines. */
export function ruleTable(
  results: readonly RuleResult[],
  currency: string,
  columns: number,
  paint: Paint,
): string {
  const rows = results.flatMap((result) => {
    const { word, tone, why } = ruleTextOf(result, currency);
    const [first = '', ...more] = why.map(printable);
    return [
      [result.id, result.kind, result.mode, paint[tone](word), first],
      ...more.map((line) => ['', '', '', '', line]),
    ];
  });
  const titles = ['rule', 'kind', 'mode', 'result', 'why'];
  return table(
    titles.map((title) => ({ title })),
    rows,
    columns,
    paint.strong,
  );
}
