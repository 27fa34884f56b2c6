/** The hours of a week: a line for each weekday, and in each hour a square as large as what was spent in it. */

import { durationText } from '../../../policies/unit-texts.ts';
import {
  hasOthers,
  type SpendFigures,
  type SpendKey,
  type SpendQuery,
  type SpendReport,
  type SpendRow,
} from '../../answers/report/model.ts';
import { meanQueuedSeconds, queueStepText, queueText, retriesText } from '../../answers/report/spend-text.ts';
import {
  Bar,
  bare,
  type PageFormat,
  pageAmount,
  pageCount,
  percent,
  shortDayLabel,
} from './parts/amounts.tsx';
import { address, Card, type Markup, pathMarkup, Table } from './parts/layout.tsx';
import { KEY_TEXTS, sameQuery } from './report-form.tsx';
import { monthText } from './statements.tsx';

export const HEATS = ['micros', 'jobs'] as const;
/** Quantity of the squares. */
export type HeatKind = (typeof HEATS)[number];

const HEAT_TEXTS: Readonly<Record<HeatKind, string>> = { micros: 'money', jobs: 'jobs' };
const WEEKDAYS = [
  ['Mon', 'Monday'],
  ['Tue', 'Tuesday'],
  ['Wed', 'Wednesday'],
  ['Thu', 'Thursday'],
  ['Fri', 'Friday'],
  ['Sat', 'Saturday'],
  ['Sun', 'Sunday'],
] as const;
const HOURS = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, '0'));
/** The squares have so many sizes: the classes `heat1` to `heat9`. */
const SIZES = 9;
/** On narrow pages every sixth hour has a label. */
const LABEL_EVERY = 6;

interface HourMapShown {
  readonly heat: HeatKind;
  /** The query without the quantity of the squares. */
  readonly same: Readonly<Record<string, string | number | undefined>>;
}

export function hourMap(report: SpendReport, { heat, same }: HourMapShown, telling: PageFormat): Markup {
  const { rows, other, zone } = report;
  const byName = new Map(rows.map((row) => [row.name, row]));
  const most = rows.toSorted((a, b) => b[heat] - a[heat])[0];
  const highest = Math.max(1, most?.[heat] ?? 0);
  const told = (row: { readonly micros: number; readonly jobs: number }): string =>
    `${pageAmount(row.micros, 'micros', telling)}, ${pageCount(row.jobs, 'job')}`;
  return (
    <>
      <p class="actions">
        {HEATS.map((each) => (
          <a
            class={each === heat ? 'button main' : 'button'}
            href={address('/reports', { ...same, heat: each === 'micros' ? undefined : each })}
            aria-current={each === heat ? 'true' : undefined}
          >
            {HEAT_TEXTS[each]}
          </a>
        ))}
      </p>
      <div class="scroll" role="group" aria-label={`Hours of the week by ${HEAT_TEXTS[heat]}`} tabindex={0}>
        <table class="heat">
          <caption class="hidden">
            {heat === 'micros' ? `Spent, ${telling.currency}` : 'Jobs'}, by weekday and hour, {zone}
          </caption>
          <thead>
            <tr>
              <td />
              {HOURS.map((hour, index) => (
                <th scope="col">
                  <span class={index % LABEL_EVERY === 0 ? undefined : 'wide'}>{hour}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {WEEKDAYS.map(([short, day]) => (
              <tr>
                <th scope="row">
                  <abbr title={day}>{short}</abbr>
                </th>
                {HOURS.map((hour) => {
                  const row = byName.get(`${short} ${hour}:00`);
                  if (row === undefined || row[heat] <= 0) return <td />;
                  return (
                    <td class={`heat${sizeOf(row[heat], highest)}`} title={`${day} ${hour}:00: ${told(row)}`}>
                      <span>{cellText(row[heat], heat)}</span>
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="soft">
        {most === undefined ? 'The hours of these jobs are unknown.' : `Most on ${most.name}: ${told(most)}.`}{' '}
        An hour is the one in which a job was decided, by the clocks of {zone}; a square twice as large is
        twice as much.
        {other.jobs !== 0 && ` In no hour: ${other.label.toLowerCase()}, ${told(other)}.`}
      </p>
    </>
  );
}

/** The area says how much, so the side grows with the root. */
const sizeOf = (amount: number, highest: number): number =>
  Math.max(1, Math.round(Math.sqrt(Math.min(1, amount / highest)) * SIZES));

const COMPACT = new Intl.NumberFormat('en-US', {
  ...{ notation: 'compact', roundingPriority: 'lessPrecision' },
  ...{ maximumSignificantDigits: 3, maximumFractionDigits: 2 },
});
const MICROS = 1_000_000;

const cellText = (amount: number, heat: HeatKind): string => {
  const whole = heat === 'micros' ? amount / MICROS : amount;
  return whole > 0 && whole < 0.01 ? '<.01' : COMPACT.format(whole);
};

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

const otherName = ({ label }: SpendReport['other']): Markup => <span class="soft">{label}</span>;

const trendTitle = ({ trendDays }: SpendReport): string =>
  trendDays === undefined ? 'By month' : trendDays === 1 ? 'By day' : 'By week';

/** Label of a row. */
function rowName({ name }: SpendRow, by: SpendKey): Markup | string {
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

/** Retries and queue times. */
export const wasteCard = (asked: SpendQuery, report: SpendReport): Markup => (
  <Card id="waste" title="Beside the money">
    <Table
      label="Beside the money"
      columns={[
        capital(KEY_TEXTS[report.by]),
        ['Jobs', 'n'],
        ['Rejected', 'n'],
        ['Never ran', 'n'],
        ['Passed by', 'n'],
        ['Let in unasked', 'n'],
        ['Over estimate', 'n'],
        ['Retries', 'n'],
        ['Spent on retries', 'n'],
        ['Queued, mean', 'n'],
      ]}
    >
      <tbody>
        {report.by !== 'hour' && report.rows.map((row) => wasteLine(rowName(row, report.by), row))}
        {report.by !== 'hour' && report.other.jobs !== 0 && wasteLine(otherName(report.other), report.other)}
        {wasteLine('Together', report.total)}
      </tbody>
    </Table>
    <p class="soft">
      A job that never ran was admitted and its hold released. Jobs that bypassed Tollgate, or were admitted
      without the ledger, were charged afterwards. Over estimate: of the jobs whose duration was estimated,
      those that took longer.
    </p>
    <p class="soft">
      {retriesText(report)}
      {report.by !== 'outcome' && (
        <>
          {' '}
          What jobs cost that failed or were canceled:{' '}
          <a href={address('/reports', { ...sameQuery(asked), by: 'outcome' })}>by outcome</a>.
        </>
      )}
    </p>
  </Card>
);

/** Queue times by bucket. */
export const queueCard = (report: SpendReport): Markup => {
  const { queue, total } = report;
  const most = Math.max(1, ...queue.map(({ jobs }) => jobs));
  return (
    <Card id="queue" title="Queued before start">
      {total.queuedKnown > 0 && (
        <Table label="Queued before start" columns={['Queued', 'Share', ['Jobs', 'n'], ['Of these', 'n']]}>
          <tbody>
            {queue.map(({ jobs }, index) => (
              <tr>
                <th scope="row">{capital(queueStepText(index, queue))}</th>
                <td class="bar-cell">
                  <Bar spent={jobs} held={0} limit={most} />
                </td>
                {countCell('jobs', jobs)}
                <td class="n" data-l="of these">
                  {percent(jobs, total.queuedKnown)}
                </td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
      <p class="soft">{queueText(report)} GitLab counts from when a job could run until a runner took it.</p>
    </Card>
  );
};

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const wasteLine = (name: Markup | string, row: SpendFigures): Markup => (
  <tr>
    <th scope="row" class="path">
      {name}
    </th>
    {countCell('jobs', row.jobs)}
    {countCell('rejected', row.rejected)}
    {countCell('never ran', row.neverRan)}
    {countCell('passed by', row.bypass)}
    {countCell('let in unasked', row.unmetered)}
    <td class="n" data-l="over estimate">
      {row.estimated === 0 ? '–' : percent(row.overEstimate, row.estimated)}
    </td>
    <td class="n" data-l="retries">
      {row.retriesKnown === 0 ? '–' : row.retries.toLocaleString('en-US')}
    </td>
    <td class="n" data-l="spent on retries">
      {row.retriesKnown === 0 ? '–' : bare(row.retryMicros, 'micros')}
    </td>
    <td class="n" data-l="queued">
      {queuedText(row)}
    </td>
  </tr>
);

const queuedText = (row: SpendFigures): string => {
  const mean = meanQueuedSeconds(row);
  return mean === undefined ? '–' : durationText(mean);
};

const countCell = (label: string, count: number): Markup => (
  <td class="n" data-l={label}>
    {count.toLocaleString('en-US')}
  </td>
);
