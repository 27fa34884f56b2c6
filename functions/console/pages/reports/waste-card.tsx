import { durationText } from '../../../../policies/units/unit-texts.ts';
import type { SpendFigures, SpendQuery, SpendReport } from '../../../answers/report/model.ts';
import {
  meanQueuedSeconds,
  queueStepText,
  queueText,
  retriesText,
} from '../../../answers/report/spend-text.ts';
import { Bar } from '../parts/bar.tsx';
import { Card, Table } from '../parts/layout.tsx';
import { address } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { bare, percent } from '../parts/page-format.tsx';
import { KEY_TEXTS, sameQuery } from './report-form.tsx';
import { otherName, rowName } from './spend-table.tsx';

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
