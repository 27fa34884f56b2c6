import { capWords } from '../../../../policies/limits/cap.ts';
import type { BudgetRow } from '../../../answers/limits/budgets-model.ts';
import { KIND_TAGS } from '../parts/group-table.tsx';
import { Table } from '../parts/layout.tsx';
import { lastAlertOf, limitAmountWords, limitWords, nextAlertText } from '../parts/limit-words.ts';
import { address, pathMarkup, subjectHref } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { modeTag, type PageFormat } from '../parts/page-format.tsx';
import { runsOut } from '../parts/run-out.tsx';
import { STANDING_COLUMNS, standingCells } from '../parts/standing-cells.tsx';

/** One line per limit: a bar, with the same figures as text. */
export const budgetLines = (rows: readonly BudgetRow[], telling: PageFormat, mayEdit: boolean): Markup => (
  <Table label="Limits" caption="Limits and how they stand" columns={STANDING_COLUMNS}>
    <tbody>
      {rows.map((row) => (row.each === undefined ? limitLine(row, telling, mayEdit) : capLine(row, telling)))}
    </tbody>
  </Table>
);

function limitLine(row: BudgetRow, telling: PageFormat, mayEdit: boolean): Markup {
  const alert = nextAlertText(row);
  const last = lastAlertOf(row, telling.currency);
  return (
    <tr>
      {nameCell(row)}
      {standingCells(row, telling, mayEdit)}
      <td class="ro">
        {row.canRunOut ? runsOut(row, telling.nowMs) : <span class="soft">{comesAndGoes(row)}</span>}
        {alert !== undefined && (
          <div>
            <small class="soft">{alert}</small>
          </div>
        )}
        {last !== undefined && (
          <div>
            <small class={last.state === 'failed' ? 'warn-text' : 'soft'}>{last.text}</small>
          </div>
        )}
      </td>
    </tr>
  );
}

/** Amounts that return with the next job, minute or hour have no run-out day. */
const comesAndGoes = ({ amount, left = 1 }: BudgetRow): string =>
  amount === 'unlimited' ? 'never' : left > 0 ? 'comes and goes' : 'full for now';

const capLine = (row: BudgetRow, telling: PageFormat): Markup => (
  <tr>
    {nameCell(row)}
    <td class="bar-cell">
      <small class="soft">each has its own</small>
    </td>
    <td class="n wide">–</td>
    <td class="n wide">–</td>
    <td class="n wide">–</td>
    <td class="n" data-l="limit">
      {limitAmountWords(row, telling)}
    </td>
    <td class="n wide">–</td>
    <td class="wide soft">–</td>
  </tr>
);

function nameCell(row: BudgetRow): Markup {
  const { subject, path, id } = row;
  const kind = KIND_TAGS[subject.slice(0, subject.indexOf('/'))];
  const href = subjectHref(subject);
  const name = row.each === undefined ? pathMarkup(path) : path;
  const facts = [
    row.each === undefined ? limitWords(row) : `${limitWords(row)} of ${capWords(row.each)}`,
    row.period?.label,
    row.byDefault && 'by default',
  ].filter((fact) => typeof fact === 'string');
  return (
    <th scope="row" class="path">
      {href === undefined ? (
        name
      ) : (
        <a href={address(href, { limit: row.canRunOut && row.each === undefined ? id : undefined })}>
          {name}
        </a>
      )}{' '}
      {kind !== undefined && row.each === undefined && <span class="tag">{kind}</span>}{' '}
      {modeTag(row.rolledOutAs ?? row.mode)}
      <small class="soft">{facts.join(' · ')}</small>
    </th>
  );
}
