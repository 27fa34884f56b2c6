import type { LimitRow } from '../../../answers/status/model.ts';
import { Bar } from './bar.tsx';
import type { TableColumn } from './layout.tsx';
import { leftClass, leftText, limitAmountWords, NOT_COUNTED } from './limit-words.ts';
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
  const amount = limitAmountWords(row, telling);
  return (
    <>
      {useCells(row)}
      <td class="n wide">
        {mayEdit && row.byDefault !== true ? limitEditLink(row.subject, row.id, amount) : amount}
      </td>
      <td class={`n ${leftClass(row)}`} data-l={(row.left ?? 0) >= 0 ? 'left' : undefined}>
        {leftText(row, telling)}
      </td>
    </>
  );
}

/** The bar, and its figures. */
export function useCells({ settled, held = 0, amount, unit, forecast, inForce }: LimitRow): Markup {
  if (settled === undefined || amount === 'unlimited')
    return (
      <>
        <td class="bar-cell" />
        <td class="n wide">–</td>
        <td class="n wide">{NOT_COUNTED}</td>
        <td class="n wide">–</td>
      </>
    );
  return (
    <>
      <td class="bar-cell">
        {inForce && <Bar spent={settled} held={held} limit={amount} forecast={forecast?.atEndAmount} />}
      </td>
      <td class="n wide">{percent(settled + held, amount)}</td>
      <td class="n wide">{bare(settled, unit)}</td>
      <td class="n wide">{bare(held, unit)}</td>
    </>
  );
}
