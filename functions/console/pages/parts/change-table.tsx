import type { ChangeRow } from '../../../core/limits/index.ts';
import { Table } from './layout.tsx';
import { subjectLink } from './links.tsx';
import type { Markup } from './markup.ts';
import { edge, instant, type PageFormat, pageAmount, pageCount } from './page-format.tsx';

/** Keeps the page small; the rest is in the file or on the next page. */
export const ROWS_SHOWN = 100;

/** Changes, field by field. */
export function changeTable(rows: readonly ChangeRow[], caption: string, telling: PageFormat): Markup {
  if (rows.length === 0) return <p class="soft">Nothing differs.</p>;
  const named = rows.filter(hasName);
  const shown = named.slice(0, ROWS_SHOWN);
  return (
    <>
      <Table label={caption} columns={['Whose', 'What', 'From', 'To', 'Effect']}>
        <tbody>
          {shown.map((row) => (
            <tr>
              <th scope="row" class="path">
                {subjectLink(row.subject, row.path ?? subjectWords(row.subject))}
              </th>
              <td>{whatText(row)}</td>
              <td data-l="from">{valueText(row.from, row, telling)}</td>
              <td data-l="to">{valueText(row.to, row, telling)}</td>
              <td>{effectTag(row)}</td>
            </tr>
          ))}
        </tbody>
      </Table>
      {named.length > ROWS_SHOWN && (
        <p>
          <small>{pageCount(named.length - ROWS_SHOWN, 'more difference')} not shown here.</small>
        </p>
      )}
    </>
  );
}

/** Ids of users are for programs; names are shown. */
const hasName = ({ field }: ChangeRow): boolean => !field.endsWith('by_user');

/** One line each, for a history. */
export const changeLines = (
  rows: readonly ChangeRow[],
  telling: PageFormat,
  { max, moreHref }: { readonly max: number; readonly moreHref: string },
): Markup => (
  <ul>
    {rows
      .filter(hasName)
      .slice(0, max)
      .map((row) => (
        <li>
          {row.path ?? subjectWords(row.subject)}: {whatText(row)}{' '}
          {row.whole === 'added' ? (
            ''
          ) : (
            <>
              <span class="from">{valueText(row.from, row, telling)}</span> →{' '}
            </>
          )}
          {row.whole === 'removed' ? 'removed' : valueText(row.to, row, telling)}
        </li>
      ))}
    {rows.filter(hasName).length > max && (
      <li>
        <a href={moreHref}>and {pageCount(rows.filter(hasName).length - max, 'more difference')}</a>
      </li>
    )}
  </ul>
);

const whatText = (row: ChangeRow): Markup =>
  row.about === 'limit' ? (
    <>
      <code>{row.limit}</code> {fieldWords(row.field)}
    </>
  ) : (
    <>
      {ABOUT[row.about]}
      {row.limit !== '' && (
        <>
          {' '}
          <code>{row.limit}</code>
        </>
      )}{' '}
      {fieldWords(row.field)}
    </>
  );

const ABOUT: Readonly<Record<Exclude<ChangeRow['about'], 'limit'>, string>> = {
  grant: 'Grant on',
  freeze: 'Freeze',
  breakglass: 'Break-glass',
  rollout: 'Rollout of',
  document: 'All limits',
};

const fieldWords = (field: string): string => field.replaceAll('_', ' ');

const subjectWords = (subject: string): string =>
  subject === 'instance' ? 'the whole GitLab' : subject.replace(/^groups\//, 'default of ').replace('/', ' ');

/** As limits.yaml has them. */
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?Z$/;

function valueText(
  value: ChangeRow['from'],
  { unit, field, zone = 'UTC' }: ChangeRow,
  telling: PageFormat,
): Markup {
  if (value === null) return <span class="soft">none</span>;
  if (typeof value === 'number' && unit !== undefined)
    return <span class="n">{pageAmount(value, unit, telling)}</span>;
  if (typeof value !== 'string' || !INSTANT.test(value)) return <>{String(value)}</>;
  const atMs = Date.parse(value);
  if (field === 'from') return edge(atMs, 'start', { zone });
  return field === 'until' ? edge(atMs, 'end', { zone }) : instant(atMs, telling);
}

/** A field's value as one text: `500.00 EUR`, `enforce`, `none`. */
export const fieldText = (value: ChangeRow['from'], unit: ChangeRow['unit'], telling: PageFormat): string =>
  typeof value === 'number' && unit !== undefined
    ? pageAmount(value, unit, telling)
    : (value ?? 'none').toString();

function effectTag({ effect, whole, field }: ChangeRow): Markup {
  const word = whole === undefined ? '' : whole === 'added' ? 'new, ' : 'goes, ';
  switch (effect) {
    case 'tightens':
      return <span class="tag warn">{word}tightens</span>;
    case 'loosens':
      return (
        <span class={`tag ${field === 'mode' && whole === undefined ? 'warn' : 'good'}`}>{word}loosens</span>
      );
    case 'neutral':
      return <span class="tag">{word}no effect on jobs</span>;
  }
}
