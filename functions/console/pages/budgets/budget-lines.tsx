import { capWords } from '../../../../policies/limits/cap.ts';
import type { BudgetRow } from '../../../answers/budgets/model.ts';
import { Bar } from '../parts/bar.tsx';
import { KIND_TAGS } from '../parts/group-table.tsx';
import { Table, type TableColumn } from '../parts/layout.tsx';
import {
  leftClass,
  leftText,
  limitAmountWords,
  limitWords,
  nextAlertText,
  onlyWatches,
} from '../parts/limit-words.ts';
import { address, limitEditLink, pathMarkup, subjectHref } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { bare, modeTag, type PageFormat, percent } from '../parts/page-format.tsx';
import { runsOut } from '../parts/run-out.tsx';

const COLUMNS: readonly TableColumn[] = [
  'Whose',
  'Use',
  ['Used', 'n wide'],
  ['Spent', 'n wide'],
  ['Held', 'n wide'],
  ['Limit', 'n wide'],
  ['Left', 'n'],
  'Runs out',
];

/** One line a limit: a bar, and beside it the same as text. */
export const budgetLines = (rows: readonly BudgetRow[], telling: PageFormat, mayEdit: boolean): Markup => (
  <Table label="Limits" caption="Limits and how they stand" columns={COLUMNS}>
    <tbody>
      {rows.map((row) => (row.each === undefined ? limitLine(row, telling, mayEdit) : capLine(row, telling)))}
    </tbody>
  </Table>
);

function limitLine(row: BudgetRow, telling: PageFormat, mayEdit: boolean): Markup {
  const { settled, held, unit, forecast, zone } = row;
  const limit = row.amount === 'unlimited' ? undefined : row.amount;
  const alert = nextAlertText(row);
  return (
    <tr>
      {nameCell(row)}
      <td class="bar-cell">
        {limit !== undefined && (
          <Bar spent={settled} held={held} limit={limit} forecast={forecast?.atEndAmount} />
        )}
      </td>
      <td class="n wide">{limit === undefined ? '–' : percent(settled + held, limit)}</td>
      <td class="n wide">{bare(settled, unit)}</td>
      <td class="n wide">{bare(held, unit)}</td>
      <td class="n wide">
        {mayEdit && row.byDefault !== true
          ? limitEditLink(row.subject, row.id, limitAmountWords(row, telling))
          : limitAmountWords(row, telling)}
      </td>
      <td class={`n ${leftClass(row)}`} data-l={(row.left ?? 0) >= 0 ? 'left' : undefined}>
        {leftText(row, telling)}
      </td>
      <td class="ro">
        {row.canRunOut ? (
          runsOut(forecast, zone, telling.nowMs, onlyWatches(row))
        ) : (
          <span class="soft">{comesAndGoes(row)}</span>
        )}
        {alert !== undefined && (
          <div>
            <small class="soft">{alert}</small>
          </div>
        )}
      </td>
    </tr>
  );
}

/** What is free again with the next job, minute or hour has no day on which it is gone. */
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
