import {
  hasOthers,
  type SpendKey,
  type SpendQuery,
  type SpendReport,
  type SpendRow,
} from '../../../answers/report/model.ts';
import { Bar } from '../parts/bar.tsx';
import { shortDayLabel } from '../parts/chart-scale.ts';
import { Table } from '../parts/layout.tsx';
import { address, pathMarkup } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { bare } from '../parts/page-format.tsx';
import { monthText } from '../statements/month-text.ts';
import { KEY_TEXTS } from './report-form.tsx';

/** One line a row with its bar, the period before and its way through the period; the others and all together at the end. */
export function spendTable(asked: SpendQuery, report: SpendReport): Markup {
  const { rows, other, total, by, before } = report;
  const most = Math.max(1, ...rows.map(({ micros, heldMicros }) => micros + heldMicros));
  const key = KEY_TEXTS[by];
  const hasTrend = rows.some(({ trend }) => trend.length > 1);
  const columns = { hasBefore: before !== undefined, hasTrend };
  return (
    <Table
      label={`Spent by ${key}`}
      columns={[
        key.charAt(0).toUpperCase() + key.slice(1),
        'Share',
        ['Spent', 'n'],
        ...(columns.hasBefore
          ? ([
              ['Before', 'n'],
              ['Change', 'n'],
            ] as const)
          : []),
        ...(hasTrend ? ([[trendTitle(report), 'wide']] as const) : []),
        ['Ran, min', 'n wide'],
      ]}
    >
      <tbody>
        {rows.map((row) => (
          <tr>
            <th scope="row" class="path">
              {linkedName(row, asked, report)}
            </th>
            <td class="bar-cell">
              <Bar spent={Math.max(0, row.micros)} held={row.heldMicros} limit={most} />
            </td>
            {amountCells(row, row.trend, columns)}
          </tr>
        ))}
      </tbody>
      <tbody>
        {hasOthers(report) && (
          <tr>
            <th scope="row" class="path">
              {otherName(other)}
            </th>
            <td class="bar-cell" />
            {amountCells(other, [], columns)}
          </tr>
        )}
        <tr>
          <th scope="row">Together</th>
          <td class="bar-cell" />
          {amountCells(total, [], columns)}
        </tr>
      </tbody>
    </Table>
  );
}

export const otherName = ({ label }: SpendReport['other']): Markup => <span class="soft">{label}</span>;

const trendTitle = ({ trendDays }: SpendReport): string =>
  trendDays === undefined ? 'By month' : trendDays === 1 ? 'By day' : 'By week';

/** Label of a row. */
export function rowName({ name }: SpendRow, by: SpendKey): Markup | string {
  if (by === 'day') return shortDayLabel(name);
  if (by === 'month') return monthText(name);
  return name === '' ? 'No class' : pathMarkup(name);
}

/** Leads to the next level down, in the same period. */
function linkedName(
  row: SpendRow,
  { period, from, to, compare, group, project }: SpendQuery,
  { by }: SpendReport,
): Markup {
  const name = rowName(row, by);
  const same = { period, from, to, compare: compare === false ? 'no' : undefined };
  const id = row.subject?.slice(row.subject.indexOf('/') + 1);
  if (by === 'group' && id !== undefined)
    return <a href={address('/reports', { ...same, group: id })}>{name}</a>;
  if (by === 'project' && id !== undefined)
    return <a href={address('/reports', { ...same, project: id, by: days(same) })}>{name}</a>;
  if (by === 'month')
    return (
      <a href={address('/reports', { ...same, ...NO_DAYS, period: row.name, group, project, by: 'day' })}>
        {name}
      </a>
    );
  if (by === 'day' && project === undefined)
    return (
      <a href={address('/reports', { ...same, period: undefined, from: row.name, to: row.name, group })}>
        {name}
      </a>
    );
  return <>{name}</>;
}

const NO_DAYS = { from: undefined, to: undefined } as const;

/** Days of a year are too many for a page. */
const days = ({ period = 'month', from }: Pick<SpendQuery, 'period' | 'from'>): SpendKey =>
  from === undefined && /month|quarter|^\d{4}-/.test(period) ? 'day' : 'month';

interface CellColumns {
  readonly hasBefore: boolean;
  readonly hasTrend: boolean;
}

const amountCells = (
  { micros, before, seconds }: Pick<SpendRow, 'micros' | 'before' | 'seconds'>,
  trend: readonly number[],
  { hasBefore, hasTrend }: CellColumns,
): Markup => (
  <>
    <td class="n" data-l="spent">
      {bare(micros, 'micros')}
    </td>
    {hasBefore && (
      <td class="n" data-l="before">
        {bare(before?.micros ?? 0, 'micros')}
      </td>
    )}
    {hasBefore && (
      <td class="n" data-l="change">
        {micros > (before?.micros ?? 0) ? '+' : ''}
        {bare(micros - (before?.micros ?? 0), 'micros')}
      </td>
    )}
    {hasTrend && <td class="wide">{trend.length > 1 && trendLine(trend)}</td>}
    <td class="n wide">{Math.round(seconds / 60).toLocaleString('en-US')}</td>
  </>
);

const WIDTH = 96;
const HEIGHT = 18;

/** A sparkline; figures are next to it, and by day or month on other pages. */
function trendLine(trend: readonly number[]): Markup {
  const highest = Math.max(1, ...trend);
  const at = (value: number, index: number): string => {
    const x = (index / (trend.length - 1)) * WIDTH;
    const y = HEIGHT - 1 - (Math.max(0, value) / highest) * (HEIGHT - 2);
    return `${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10}`;
  };
  return (
    <svg class="trend" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <path d={`M${trend.map(at).join('L')}`} />
    </svg>
  );
}
