import type { LimitRow } from '../../../answers/standing/model.ts';
import { Bar } from './bar.tsx';
import type { TableColumn } from './layout.tsx';
import { leftClass, leftText, limitAmountWords } from './limit-words.ts';
import { limitEditLink } from './links.tsx';
import type { Markup } from './markup.ts';
import { bare, type PageFormat, percent } from './page-format.tsx';

/** The columns of a table whose lines say how a limit stands. */
export const STANDING_COLUMNS: readonly TableColumn[] = [
  'Whose',
  'Use',
  ['Used', 'n wide'],
  ['Spent', 'n wide'],
  ['Held', 'n wide'],
  ['Limit', 'n wide'],
  ['Left', 'n'],
  'Runs out',
];

/** From its bar to what is left. @param mayEdit - the amount leads to the form that changes it */
export function standingCells(row: LimitRow, telling: PageFormat, mayEdit: boolean): Markup {
  const { settled, held, unit, forecast } = row;
  const limit = row.amount === 'unlimited' ? undefined : row.amount;
  const amount = limitAmountWords(row, telling);
  return (
    <>
      <td class="bar-cell">
        {limit !== undefined && (
          <Bar spent={settled} held={held} limit={limit} forecast={forecast?.atEndAmount} />
        )}
      </td>
      <td class="n wide">{limit === undefined ? '–' : percent(settled + held, limit)}</td>
      <td class="n wide">{bare(settled, unit)}</td>
      <td class="n wide">{bare(held, unit)}</td>
      <td class="n wide">
        {mayEdit && row.byDefault !== true ? limitEditLink(row.subject, row.id, amount) : amount}
      </td>
      <td class={`n ${leftClass(row)}`} data-l={(row.left ?? 0) >= 0 ? 'left' : undefined}>
        {leftText(row, telling)}
      </td>
    </>
  );
}
