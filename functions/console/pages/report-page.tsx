import { Hono } from 'hono';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import {
  SPEND_KEYS,
  type SpendAnswer,
  type SpendQuery,
  type SpendReport,
} from '../../answers/report/model.ts';
import { groupsCsv, spendCsv, spendFocusCsv } from '../../answers/report/spend-text.ts';
import type { SignInEnv, User } from '../../core/signin/model.ts';
import { ConsolePage } from './frame.tsx';
import { type PageContext, type PagesDeps, pageFormatOf, query, readWholeNumber, send } from './page-deps.ts';
import { daySpan, distance, type PageFormat, pageAmount, pageCount, percent } from './parts/amounts.tsx';
import { address, Card, type Markup } from './parts/layout.tsx';
import { problemPage, unknownPlace } from './problem-page.tsx';
import { KEY_TEXTS, reportForm, sameQuery } from './report-form.tsx';
import { HEATS, type HeatKind, hourMap, queueCard, spendTable, wasteCard } from './report-parts.tsx';

interface ReportShown {
  readonly asked: SpendQuery;
  readonly answer: SpendAnswer;
  /** Quantity of the squares in a report by hour. */
  readonly heat: HeatKind;
}

/** Spend of a period. */
const reportPage = (user: User, { asked, answer, heat }: ReportShown, telling: PageFormat): Markup => (
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

/** A line with its trend is about a kilobyte: a page stays below 100 KB. */
const ROWS = 40;
const FILE_ROWS = 1_000;
/** A response has at most 6 MB, and a FOCUS line about 600 bytes. */
const FILE_LINES_MAX = 9_000;
const TEXT_MAX = 255;

/** A report, its rows as CSV, and all groups as CSV and FOCUS. */
export function reportPageRoutes(deps: PagesDeps): Hono<SignInEnv> {
  const { read } = deps;
  const app = new Hono<SignInEnv>();

  app.get('/reports', async (c) => {
    const { user } = c.var;
    const asked = askedOf(c);
    const answer = unknownKey(c) ?? (await read.spend({ ...asked, top: ROWS }, user));
    const heat = HEATS.find((each) => each === query(c, 'heat')) ?? 'micros';
    const isNamed = asked.group !== undefined || asked.project !== undefined;
    return send(
      c,
      reportPage(user, { asked, answer, heat }, pageFormatOf(deps)),
      answer.outcome === 'unknown_group' && isNamed ? 404 : 200,
    );
  });

  app.get('/reports/:file{spend.csv|groups.csv|focus.csv}', async (c) => {
    const { user } = c.var;
    const file = c.req.param('file');
    const asked = askedOf(c);
    if (file === 'spend.csv') {
      const answer = unknownKey(c) ?? (await read.spend({ ...asked, top: FILE_ROWS }, user));
      if (answer.outcome !== 'reported') return refused(c, user, answer);
      const { report } = answer;
      return download(c, spendCsv(report), `spend-${report.fromDay}-${report.toDay}.csv`);
    }
    const answer = await read.spendList(asked, user);
    if (answer.outcome !== 'listed') return refused(c, user, answer);
    const { list } = answer;
    if (list.lines.length > FILE_LINES_MAX) return send(c, problemPage(user, TOO_LONG), 413);
    const isFocus = file === 'focus.csv';
    const text = isFocus ? spendFocusCsv(list, true) : groupsCsv(list, true);
    return download(c, text, `${isFocus ? 'focus' : 'groups'}-${list.fromDay}-${list.toDay}.csv`);
  });

  return app;
}

const TOO_LONG = {
  title: 'Too long',
  sentence: `A file from here has at most ${FILE_LINES_MAX.toLocaleString('en-US')} groups.`,
  remedy: 'Ask for one group, or use the command line: npx tollgate report spend --all --csv.',
} as const;

/** An invalid typed key is an error, because another report would look like the requested one. */
function unknownKey(c: PageContext): Extract<SpendAnswer, { outcome: 'unreadable' }> | undefined {
  const by = query(c, 'by', TEXT_MAX);
  if (by === undefined || SPEND_KEYS.some((key) => key === by)) return undefined;
  return { outcome: 'unreadable', asked: 'by', sentence: `expected one of ${SPEND_KEYS.join(', ')}` };
}

function askedOf(c: PageContext): SpendQuery {
  const [from, to] = [query(c, 'from', TEXT_MAX), query(c, 'to', TEXT_MAX)];
  const isDays = from !== undefined || to !== undefined;
  const by = SPEND_KEYS.find((key) => key === query(c, 'by'));
  const project = readWholeNumber(query(c, 'project'));
  return withoutAbsent({
    ...(isDays ? { from, to } : { period: query(c, 'period', TEXT_MAX) }),
    ...(project === undefined ? { group: query(c, 'group', TEXT_MAX) } : { project }),
    by,
    compare: query(c, 'compare') === 'no' ? false : undefined,
  });
}

function refused(c: PageContext, user: User, answer: Exclude<SpendAnswer, { outcome: 'reported' }>) {
  if (answer.outcome === 'unknown_group') return send(c, unknownPlace(user), 404);
  const sentence = `No file of this: ${answer.asked} ${answer.sentence}.`;
  return send(c, problemPage(user, { title: 'No report', sentence, remedy: 'Go back and correct it.' }), 422);
}

const download = (c: PageContext, text: string, name: string): Response =>
  c.body(text, 200, {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${name}"`,
  });
