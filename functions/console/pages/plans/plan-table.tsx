import type { PlanRow, PlanView } from '../../../answers/plans/model.ts';
import type { Values } from '../parts/form-field.tsx';
import { Table } from '../parts/layout.tsx';
import { limitWords, writtenAmount } from '../parts/limit-words.ts';
import { pathMarkup, subjectHref } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { bare, type PageFormat, pageCount } from '../parts/page-format.tsx';
import { differenceWords, planAmount } from './plan-words.tsx';

/** Begins the name of a field of an amount. */
const PREFIX = 'amount|';

const fieldOf = ({ subject, limit }: PlanRow): string => `${PREFIX}${subject}|${limit}`;

/** The limits that fields of a form are about, with what was typed. */
export const typedAmounts = (values: Values) =>
  Object.entries(values).flatMap(([name, amount]) => {
    if (!name.startsWith(PREFIX)) return [];
    const end = name.lastIndexOf('|');
    return [{ subject: name.slice(PREFIX.length, end), limit: name.slice(end + 1), amount: amount || null }];
  });

/** Each limit with what it used, what it will use, what it is, and what it shall be. */
export const planTable = (view: PlanView, values: Values, isOpen: boolean, telling: PageFormat): Markup => (
  <Table
    label="Limits of the plan"
    caption="Each limit with a year of use, the forecast, what is in force and what is planned"
    columns={[
      'Limit',
      ['Mean use', 'n'],
      ['Most', 'n wide'],
      ['Forecast', 'n'],
      ['Today', 'n'],
      ['Planned', 'n'],
      ['Change', 'n'],
    ]}
  >
    <tbody>{view.rows.map((row) => planLine(row, values, isOpen, telling))}</tbody>
  </Table>
);

function planLine(row: PlanRow, values: Values, isOpen: boolean, telling: PageFormat): Markup {
  const { path, subject, unit, kind, lastYear, forecast, today, planned, isPlanned } = row;
  const [name, href] = [fieldOf(row), subjectHref(subject)];
  return (
    <tr>
      <th scope="row" class="path">
        {href === undefined ? pathMarkup(path) : <a href={href}>{pathMarkup(path)}</a>}
        <small class="soft">{limitWords(row)}</small>
      </th>
      <td class="n" data-l="used">
        {lastYear === undefined ? (
          <span class="soft">–</span>
        ) : (
          <>
            {bare(lastYear.mean, unit)}{' '}
            <small class="soft wide">of {pageCount(lastYear.periods, 'period')}</small>
          </>
        )}
      </td>
      <td class="n wide">{lastYear === undefined ? '–' : bare(lastYear.most, unit)}</td>
      <td class="n" data-l="forecast">
        {forecast === undefined ? <span class="soft">–</span> : bare(forecast, unit)}
      </td>
      <td class="n" data-l="today">
        {planAmount(today, unit, telling)}
      </td>
      <td class={isOpen ? 'n full' : 'n'} data-l="planned">
        {isOpen ? (
          <input
            class="short"
            name={name}
            aria-label={`Planned for ${path}, ${limitWords(row)}`}
            value={values[name] ?? (isPlanned ? writtenAmount(planned, kind) : '')}
            placeholder={typeof today === 'number' ? writtenAmount(today, kind) : ''}
            size={10}
            maxlength={60}
            autocomplete="off"
          />
        ) : (
          planAmount(planned, unit, telling)
        )}
      </td>
      <td class="n" data-l={isPlanned ? 'change' : undefined}>
        {differenceWords(today, planned)}
      </td>
    </tr>
  );
}
