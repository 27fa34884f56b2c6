import type { Child } from 'hono/jsx';
import { durationText } from '../../../policies/unit-texts.ts';
import {
  hasOthers,
  JOB_KEY_TEXTS,
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
  number,
  type PageFormat,
  pageAmount,
  pageCount,
  percent,
  shortDayLabel,
} from './parts/amounts.tsx';
import { address, Card, type Column, type Markup, pathMarkup, Table } from './parts/layout.tsx';
import { monthText } from './statements.tsx';

export const KEY_TEXTS: Readonly<Record<SpendKey, string>> = {
  ...{
    group: 'group',
    project: 'project',
    class: 'runner class',
    ...JOB_KEY_TEXTS,
    day: 'day',
    month: 'month',
  },
};

/** Query of the same report. */
export const sameQuery = ({ period, from, to, group, project, by, compare }: SpendQuery) => ({
  ...{ period, from, to, group, project, by },
  compare: compare === false ? 'no' : undefined,
});

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
/** Sizes of the squares: the classes `heat1` to `heat9`. */
const SIZES = 9;
/** On narrow pages every sixth hour has a label. */
const LABEL_EVERY = 6;

/** The hours of a week: a line for each weekday, and in each hour a square as large as what was spent in it. */
export function hourMap({ rows, other, zone }: SpendReport, format: PageFormat): Markup {
  const byName = new Map(rows.map((row) => [row.name, row]));
  const most = rows.toSorted((a, b) => b.micros - a.micros)[0];
  const told = ({ micros, jobs }: { readonly micros: number; readonly jobs: number }): string =>
    `${pageAmount(micros, 'micros', format)}, ${pageCount(jobs, 'job')}`;
  // The area says how much, so the side grows with the root.
  const sizeOf = (micros: number): number =>
    Math.max(1, Math.round(Math.sqrt(Math.min(1, micros / Math.max(1, most?.micros ?? 0))) * SIZES));
  const hourCell = (short: string, day: string, hour: string): Markup => {
    const row = byName.get(`${short} ${hour}:00`);
    if (row === undefined || row.micros <= 0) return <td />;
    return (
      <td class={`heat${sizeOf(row.micros)}`} title={`${day} ${hour}:00: ${told(row)}`}>
        <span>{cellText(row.micros)}</span>
      </td>
    );
  };
  return (
    <>
      <div class="scroll" role="group" aria-label="Spent by hour of the week" tabindex={0}>
        <table class="heat">
          <caption class="hidden">
            Spent, {format.currency}, by weekday and hour, {zone}
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
                {HOURS.map((hour) => hourCell(short, day, hour))}
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

const COMPACT = new Intl.NumberFormat('en-US', {
  ...{ notation: 'compact', roundingPriority: 'lessPrecision' },
  ...{ maximumSignificantDigits: 3, maximumFractionDigits: 2 },
});

const cellText = (micros: number): string => {
  const whole = micros / 1_000_000;
  return whole > 0 && whole < 0.01 ? '<.01' : COMPACT.format(whole);
};

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** One line a row with its bar and the period before; the others and all together at the end. */
export function spendTable(asked: SpendQuery, report: SpendReport): Markup {
  const { rows, other, total, by, before } = report;
  const most = Math.max(1, ...rows.map(({ micros, heldMicros }) => micros + heldMicros));
  const head = capital(KEY_TEXTS[by]);
  const figures: readonly Column<SpendFigures & Pick<SpendRow, 'before'>>[] = [
    { head: 'Spent', style: 'n', label: 'spent', cell: ({ micros }) => bare(micros, 'micros') },
    ...(before === undefined
      ? []
      : [
          {
            ...{ head: 'Before', style: 'n', label: 'before' },
            cell: (row: Pick<SpendRow, 'before'>) => bare(row.before?.micros ?? 0, 'micros'),
          },
          {
            ...{ head: 'Change', style: 'n', label: 'change' },
            cell: (row: Pick<SpendRow, 'before' | 'micros'>) => {
              const change = row.micros - (row.before?.micros ?? 0);
              return `${change > 0 ? '+' : ''}${bare(change, 'micros')}`;
            },
          },
        ]),
    { head: 'Ran, min', style: 'n wide', cell: ({ seconds }) => number(Math.round(seconds / 60)) },
  ];
  const foot = (name: Child, row: SpendFigures & Pick<SpendRow, 'before'>) => ({
    [head]: name,
    ...Object.fromEntries(figures.map((column) => [column.head, column.cell(row)])),
  });
  return (
    <Table
      label={`Spent by ${KEY_TEXTS[by]}`}
      columns={[
        { head, isName: true, style: 'path', cell: (row) => linkedName(row, asked, report) },
        {
          ...{ head: 'Share', style: 'bar-cell' },
          cell: ({ micros, heldMicros }) => (
            <Bar spent={Math.max(0, micros)} held={heldMicros} limit={most} />
          ),
        },
        ...figures,
      ]}
      rows={rows}
      foot={[...(hasOthers(report) ? [foot(otherName(other), other)] : []), foot('Together', total)]}
    />
  );
}

const otherName = ({ label }: SpendReport['other']): Markup => <span class="soft">{label}</span>;

/** Label of a row. */
function rowName({ name }: SpendRow, by: SpendKey): Markup | string {
  if (by === 'day') return shortDayLabel(name);
  if (by === 'month') return monthText(name);
  return name === '' ? 'No class' : pathMarkup(name);
}

/** Leads to the next level down, in the same period. */
function linkedName(row: SpendRow, asked: SpendQuery, { by }: SpendReport): Markup | string {
  const { period = 'month', from, group, project } = asked;
  const name = rowName(row, by);
  const same = { ...sameQuery(asked), group: undefined, project: undefined, by: undefined };
  const link = (query: Readonly<Record<string, string | number | undefined>>): Markup => (
    <a href={address('/reports', { ...same, ...query })}>{name}</a>
  );
  const id = row.subject?.slice(row.subject.indexOf('/') + 1);
  if (by === 'group' && id !== undefined) return link({ group: id });
  // Days of a year are too many for a page.
  if (by === 'project' && id !== undefined)
    return link({
      project: id,
      by: from === undefined && /month|quarter|^\d{4}-/.test(period) ? 'day' : 'month',
    });
  if (by === 'month')
    return link({ from: undefined, to: undefined, period: row.name, group, project, by: 'day' });
  if (by === 'day' && project === undefined)
    return link({ period: undefined, from: row.name, to: row.name, group });
  return name;
}

/** Counts by heading. */
const WASTE: readonly (readonly [string, (row: SpendFigures) => string])[] = [
  ['Jobs', ({ jobs }) => number(jobs)],
  ['Rejected', ({ rejected }) => number(rejected)],
  ['Never ran', ({ neverRan }) => number(neverRan)],
  ['Passed by', ({ bypass }) => number(bypass)],
  ['Let in unasked', ({ unmetered }) => number(unmetered)],
  [
    'Over estimate',
    ({ estimated, overEstimate }) => (estimated === 0 ? '–' : percent(overEstimate, estimated)),
  ],
  ['Retries', ({ retriesKnown, retries }) => (retriesKnown === 0 ? '–' : number(retries))],
  [
    'Spent on retries',
    ({ retriesKnown, retryMicros }) => (retriesKnown === 0 ? '–' : bare(retryMicros, 'micros')),
  ],
  [
    'Queued, mean',
    (row) => {
      const mean = meanQueuedSeconds(row);
      return mean === undefined ? '–' : durationText(mean);
    },
  ],
];

/** Retries and queue times. */
export function wasteCard(asked: SpendQuery, report: SpendReport): Markup {
  const { by, rows, other, total } = report;
  const head = capital(KEY_TEXTS[by]);
  const foot = (name: Child, row: SpendFigures) => ({
    [head]: name,
    ...Object.fromEntries(WASTE.map(([column, told]) => [column, told(row)])),
  });
  return (
    <Card id="waste" title="More than money">
      <Table
        label="More than money"
        columns={[
          { head, isName: true, style: 'path', cell: (row) => rowName(row, by) },
          ...WASTE.map(([column, cell]) => ({ head: column, style: 'n', label: column.toLowerCase(), cell })),
        ]}
        rows={by === 'hour' ? [] : rows}
        foot={[
          ...(by !== 'hour' && other.jobs !== 0 ? [foot(otherName(other), other)] : []),
          foot('Together', total),
        ]}
      />
      <p class="soft">
        A job that never ran was admitted and its hold released. Jobs that bypassed Tollgate, or were admitted
        without the ledger, were charged afterwards. Over estimate: of the jobs whose duration was estimated,
        those that took longer. {retriesText(report)}
        {by !== 'outcome' && (
          <>
            {' '}
            What jobs cost that failed or were canceled:{' '}
            <a href={address('/reports', { ...sameQuery(asked), by: 'outcome' })}>by outcome</a>.
          </>
        )}
      </p>
    </Card>
  );
}

/** Queue times by bucket. */
export const queueCard = (report: SpendReport): Markup => {
  const { queue, total } = report;
  const most = Math.max(1, ...queue.map(({ jobs }) => jobs));
  return (
    <Card id="queue" title="Queued before start">
      {total.queuedKnown > 0 && (
        <Table
          label="Queued before start"
          columns={[
            {
              head: 'Queued',
              isName: true,
              cell: (step) => capital(queueStepText(queue.indexOf(step), queue)),
            },
            {
              head: 'Share',
              style: 'bar-cell',
              cell: ({ jobs }) => <Bar spent={jobs} held={0} limit={most} />,
            },
            { head: 'Jobs', style: 'n', label: 'jobs', cell: ({ jobs }) => number(jobs) },
            {
              ...{ head: 'Of these', style: 'n', label: 'of these' },
              cell: ({ jobs }) => percent(jobs, total.queuedKnown),
            },
          ]}
          rows={queue}
        />
      )}
      <p class="soft">{queueText(report)} GitLab counts from when a job could run until a runner took it.</p>
    </Card>
  );
};
