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
import { meanQueuedSeconds, queueText, retriesText } from '../../answers/report/spend-text.ts';
import * as ui from './parts/ui.ts';
import { monthText } from './statements.tsx';

export const KEY_TEXTS: Readonly<Record<SpendKey, string>> = {
  ...{ group: 'group', project: 'project', class: 'runner class' },
  ...{ ...JOB_KEY_TEXTS, day: 'day', month: 'month' },
};

export const sameQuery = ({ period, from, to, group, project, by }: SpendQuery) => ({
  ...{ period, from, to, group, project, by },
});

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export function spendTable(input: SpendQuery, report: SpendReport): ui.Markup {
  const { rows, other, total, by, before } = report;
  const most = Math.max(1, ...rows.map(({ micros, heldMicros }) => micros + heldMicros));
  const beforeOf = (row: Pick<SpendRow, 'before'>): number => row.before?.micros ?? 0;
  return reportTable(
    `Spent by ${KEY_TEXTS[by]}`,
    report,
    (row) => linkedName(row, input, report),
    // The 168 hours of a week would make a page of more than 100 KB.
    by !== 'hour' && {
      style: 'bar-cell',
      cell: ({ micros, heldMicros }) => <ui.Bar spent={Math.max(0, micros)} held={heldMicros} limit={most} />,
    },
    {
      Spent: { style: 'n', cell: ({ micros }) => ui.bare(micros, 'micros') },
      ...(before !== undefined && {
        Previous: { style: 'n', cell: (row) => ui.bare(beforeOf(row), 'micros') },
        Change: { style: 'n', cell: (row) => ui.bare(row.micros - beforeOf(row), 'micros') },
      }),
      'Run time, min': { style: 'n wide', cell: ({ seconds }) => ui.number(Math.round(seconds / 60)) },
    },
    { rows, others: hasOthers(report) && other, total },
  );
}

type FigureRow = SpendFigures & Pick<SpendRow, 'before'>;
type Figures = Readonly<Record<string, ui.Column<FigureRow>>>;

function reportTable(
  label: string,
  { by }: SpendReport,
  nameOf: (row: SpendRow) => Child,
  bar: ui.Column<SpendRow> | false,
  figures: Figures,
  {
    rows,
    others,
    total,
  }: Pick<SpendReport, 'rows' | 'total'> & { readonly others: SpendReport['other'] | false },
): ui.Markup {
  const head = capital(KEY_TEXTS[by]);
  const foot = (name: Child, row: FigureRow) => ({
    [head]: name,
    ...Object.fromEntries(Object.entries(figures).map(([each, { cell }]) => [each, cell(row)])),
  });
  return (
    <ui.Table
      label={label}
      columns={{ [head]: nameOf, ...(bar && { Share: bar }), ...figures }}
      rows={rows}
      foot={[others && foot(ui.soft(others.label), others), foot('Total', total)]}
    />
  );
}

function rowName({ name }: SpendRow, by: SpendKey): ui.Markup | string {
  if (by === 'day') return ui.shortDayLabel(name);
  if (by === 'month') return monthText(name);
  return name === '' ? 'No class' : ui.pathMarkup(name);
}

/** Leads to the next level down, in the same period. */
function linkedName(row: SpendRow, input: SpendQuery, { by }: SpendReport): ui.Markup | string {
  const name = rowName(row, by);
  const same = { ...sameQuery(input), group: undefined, project: undefined, by: undefined };
  const link = (query: Readonly<Record<string, string | number | undefined>>): ui.Markup => (
    <a href={ui.address('/reports', { ...same, ...query })}>{name}</a>
  );
  const id = row.subject?.slice(row.subject.indexOf('/') + 1);
  if (by === 'group' && id !== undefined) return link({ group: id });
  if (by === 'project' && id !== undefined) return link({ project: id, by: 'month' });
  if (by !== 'month') return name;
  const { group, project } = input;
  return link({ from: undefined, to: undefined, period: row.name, group, project, by: 'day' });
}

const WASTE: Figures = {
  Jobs: { style: 'n', cell: ({ jobs }) => ui.number(jobs) },
  Rejected: { style: 'n', cell: ({ rejected }) => ui.number(rejected) },
  'Never ran': { style: 'n', cell: ({ neverRan }) => ui.number(neverRan) },
  Unchecked: { style: 'n', cell: ({ bypass, unmetered }) => ui.number(bypass + unmetered) },
  'Over estimate': {
    style: 'n',
    cell: ({ estimated, overEstimate }) => (estimated === 0 ? '–' : ui.percent(overEstimate, estimated)),
  },
  Retries: {
    style: 'n',
    cell: ({ retriesKnown, retries }) => (retriesKnown === 0 ? '–' : ui.number(retries)),
  },
  'Mean queue time': {
    style: 'n',
    cell: (row) => {
      const mean = meanQueuedSeconds(row);
      return mean === undefined ? '–' : durationText(mean);
    },
  },
};

export function wasteCard(report: SpendReport): ui.Markup {
  const { by, rows, other, total } = report;
  const isHourly = by === 'hour';
  const shown = { rows: isHourly ? [] : rows, others: !isHourly && other.jobs !== 0 && other, total };
  return (
    <ui.Card id="waste" title="Job figures">
      {reportTable('Job figures', report, (row) => rowName(row, by), false, WASTE, shown)}
      <p class="soft">
        Unchecked jobs ran without a decision of the ledger and were charged afterwards. {retriesText(report)}{' '}
        {queueText(report)}
      </p>
    </ui.Card>
  );
}
