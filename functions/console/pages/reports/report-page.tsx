import {
  SPEND_KEYS,
  type SpendAnswer,
  type SpendQuery,
  type SpendReport,
} from '../../../answers/report/model.ts';
import type { User } from '../../../core/signin/index.ts';
import { ConsolePage } from '../frame.tsx';
import { daySpan } from '../parts/chart-scale.ts';
import { Card } from '../parts/layout.tsx';
import { address } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { distance, type PageFormat, pageAmount, pageCount, percent } from '../parts/page-format.tsx';
import { type HeatKind, hourMap } from './hour-map.tsx';
import { KEY_TEXTS, reportForm, sameQuery } from './report-form.tsx';
import { spendTable } from './spend-table.tsx';
import { queueCard, wasteCard } from './waste-card.tsx';

interface ReportShown {
  readonly asked: SpendQuery;
  readonly answer: SpendAnswer;
  /** Quantity of the squares in a report by hour. */
  readonly heat: HeatKind;
}

/** Spend of a period. */
export const reportPage = (user: User, { asked, answer, heat }: ReportShown, telling: PageFormat): Markup => (
  <ConsolePage title="Reports" at="/reports" user={user}>
    <div class="head">
      <div>
        <h1>Reports</h1>
        <p>{answer.outcome === 'reported' ? aboutText(answer.report, telling) : ABOUT}</p>
      </div>
    </div>
    {reportForm(asked, {
      by: answer.outcome === 'reported' ? answer.report.by : undefined,
      keys: answer.outcome === 'reported' ? answer.report.keys : SPEND_KEYS,
    })}
    {answerPart({ asked, answer, heat }, telling)}
  </ConsolePage>
);

const ABOUT = 'Spend in any period, compared with the period before.';

function answerPart({ asked, answer, heat }: ReportShown, telling: PageFormat): Markup {
  if (answer.outcome === 'reported') return reportParts(asked, answer.report, heat, telling);
  if (answer.outcome === 'unreadable')
    return (
      <div class="note bad" role="alert">
        <p>
          <strong>{FIELDS[answer.asked]}</strong>: {answer.sentence}.
        </p>
      </div>
    );
  return (
    <div class="card">
      <p>
        <strong>
          {asked.group === undefined ? 'Name a group.' : `There is no report of ${asked.group} for you.`}
        </strong>
      </p>
      <p>A report shows the groups that are yours to see, with everything below them.</p>
    </div>
  );
}

const FIELDS = { period: 'Period', from: 'The first day', to: 'The last day', by: 'By' } as const;

function aboutText(report: SpendReport, { nowMs }: PageFormat): Markup {
  const { path, before, packedAtMs, subject } = report;
  return (
    <>
      {path}, {daySpan(report)}
      {before !== undefined && `, beside ${daySpan(before)}`}.{' '}
      {packedAtMs !== undefined && nowMs - packedAtMs > 60_000 && `Counted ${distance(packedAtMs, nowMs)}. `}
      {subject !== 'instance' && (
        <a href={address('/reports', { from: report.fromDay, to: report.toDay })}>All that is yours</a>
      )}
    </>
  );
}

function reportParts(asked: SpendQuery, report: SpendReport, heat: HeatKind, telling: PageFormat): Markup {
  const { total, notes, by, rows } = report;
  const isEmpty = total.jobs === 0 && (total.before?.jobs ?? 0) === 0;
  return (
    <>
      {notes.map((note) => (
        <div class="note warn" role="status">
          <p>{note}</p>
        </div>
      ))}
      {totalCard(report, telling)}
      {isEmpty ? (
        <div class="card">
          <p>
            <strong>No job was decided in these days.</strong>
          </p>
          <p>A job counts on the day it was decided.</p>
        </div>
      ) : (
        <>
          <Card
            id="cost"
            title={
              <>
                <span>By {KEY_TEXTS[by]}</span>
                <small class="soft">{by === 'hour' && heat === 'jobs' ? 'jobs' : telling.currency}</small>
              </>
            }
          >
            {by === 'hour'
              ? hourMap(report, { heat, same: sameQuery(asked) }, telling)
              : spendTable(asked, report)}
            {downloads(asked, report)}
          </Card>
          {rows.length > 0 && wasteCard(asked, report)}
          {total.ran > 0 && queueCard(report)}
        </>
      )}
    </>
  );
}

function totalCard({ total }: SpendReport, telling: PageFormat): Markup {
  const { before } = total;
  return (
    <Card id="total" title="All together">
      <dl class="figures">
        <div>
          <dt>Spent</dt>
          <dd>
            {pageAmount(total.micros, 'micros', telling)}
            {total.heldMicros !== 0 && (
              <small class="soft">
                {pageAmount(total.heldMicros, 'micros', telling)} held by running jobs
              </small>
            )}
          </dd>
        </div>
        {before !== undefined && (
          <div>
            <dt>The period before</dt>
            <dd>
              {pageAmount(before.micros, 'micros', telling)}
              {before.micros > 0 && (
                <small class="soft">{changeText(total.micros, before.micros)} since</small>
              )}
            </dd>
          </div>
        )}
        <div>
          <dt>Jobs</dt>
          <dd>
            {total.jobs.toLocaleString('en-US')}
            {total.rejected > 0 && (
              <small class="soft">{total.rejected.toLocaleString('en-US')} rejected</small>
            )}
          </dd>
        </div>
        <div>
          <dt>Ran longer than estimated</dt>
          <dd>
            {total.estimated === 0 ? '–' : percent(total.overEstimate, total.estimated)}
            {total.estimated > 0 && <small class="soft">of {pageCount(total.estimated, 'job')}</small>}
          </dd>
        </div>
      </dl>
    </Card>
  );
}

const changeText = (now: number, before: number): string => {
  const share = Math.round((now / before - 1) * 100);
  return `${share > 0 ? '+' : ''}${share.toLocaleString('en-US')} %`;
};

/** Addresses with what was asked, so that files say the same as the page. */
function downloads(asked: SpendQuery, report: SpendReport): Markup {
  const { fromDay, toDay, subject } = report;
  const same = sameQuery(asked);
  const isOneMonth = fromDay.slice(0, 7) === toDay.slice(0, 7);
  return (
    <p class="actions">
      <a class="button" href={address('/reports/spend.csv', same)}>
        These rows as CSV
      </a>
      {!subject.startsWith('project/') && (
        <a class="button" href={address('/reports/groups.csv', same)}>
          All groups as CSV
        </a>
      )}
      {!subject.startsWith('project/') && isOneMonth && (
        <a class="button" href={address('/reports/focus.csv', same)}>
          All groups as FOCUS
        </a>
      )}
    </p>
  );
}
