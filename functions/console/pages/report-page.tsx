import { readWrittenDay } from '../../../policies/document/written.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import {
  SPEND_KEYS,
  type SpendAnswer,
  type SpendKey,
  type SpendQuery,
  type SpendReport,
  type SpendUnreadable,
} from '../../answers/report/model.ts';
import { groupsCsv, spendCsv } from '../../answers/report/spend-text.ts';
import { sendCsv } from '../api/api-parts.ts';
import { ConsolePage } from './frame.tsx';
import { type PageContext, type PageRoutes, query, send } from './page.ts';
import * as ui from './parts/ui.ts';
import { sendProblem, sendUnknown } from './problem-page.tsx';
import { KEY_TEXTS, sameQuery, spendTable, wasteCard } from './report-parts.tsx';

/** A line of both tables is about a kilobyte: a page stays below 100 KB. */
const ROWS = 40;
const FILE_ROWS = 1_000;
/** A response has at most 6 MB. */
const FILE_LINES_MAX = 9_000;

export const reportPageRoutes: PageRoutes = (app, deps) => {
  const { read } = deps;

  app.get('/reports', async (c) => {
    const input = readSpendQuery(c);
    const answer = unknownKey(c) ?? (await read.spend({ ...input, top: ROWS }, c.var.user));
    const isNamed = input.group !== undefined || input.project !== undefined;
    const page = reportPage(input, answer);
    return send(c, page, answer.outcome === 'unknown_group' && isNamed ? 404 : 200);
  });

  app.get('/reports/:file{spend.csv|groups.csv}', async (c) => {
    const { user } = c.var;
    const [kind] = c.req.param('file').split('.');
    const input = readSpendQuery(c);
    if (kind === 'spend') {
      const answer = unknownKey(c) ?? (await read.spend({ ...input, top: FILE_ROWS }, user));
      if (answer.outcome !== 'reported') return refused(c, answer);
      const { fromDay, toDay } = answer.report;
      return sendCsv(c, spendCsv(answer.report), `spend-${fromDay}-${toDay}.csv`);
    }
    const answer = await read.spendList(input, user);
    if (answer.outcome !== 'listed') return refused(c, answer);
    const { list } = answer;
    if (list.lines.length > FILE_LINES_MAX) return sendProblem(c, TOO_LONG, 413);
    return sendCsv(c, groupsCsv(list, true), `${kind}-${list.fromDay}-${list.toDay}.csv`);
  });
};

const TOO_LONG = {
  title: 'File too long',
  sentence: `A file has at most ${ui.number(FILE_LINES_MAX)} groups.`,
  remedy: 'Choose one group, or use the command line: tollgate report spend --all --csv.',
};

/** An unknown key is an error, because another report would look like the requested one. */
function unknownKey(c: PageContext): SpendUnreadable | undefined {
  if (query.text(c, 'by') === undefined || query.oneOf(c, 'by', SPEND_KEYS) !== undefined) return undefined;
  return { outcome: 'unreadable', asked: 'by', sentence: `expected one of ${SPEND_KEYS.join(', ')}` };
}

function readSpendQuery(c: PageContext): SpendQuery {
  const [from, to] = [query.text(c, 'from'), query.text(c, 'to')];
  const isDays = from !== undefined || to !== undefined;
  const project = query.number(c, 'project');
  return withoutAbsent({
    ...(isDays ? { from, to } : { period: query.text(c, 'period') }),
    ...(project === undefined ? { group: query.text(c, 'group') } : { project }),
    by: query.oneOf(c, 'by', SPEND_KEYS),
  });
}

function refused(c: PageContext, answer: Exclude<SpendAnswer, { outcome: 'reported' }>) {
  if (answer.outcome === 'unknown_group') return sendUnknown(c);
  const sentence = `The report cannot be made: ${answer.asked} ${answer.sentence}.`;
  return sendProblem(c, { title: 'No report', sentence, remedy: 'Go back and correct it.' }, 422);
}

const reportPage = (input: SpendQuery, answer: SpendAnswer): ui.Markup => {
  const report = answer.outcome === 'reported' ? answer.report : undefined;
  return (
    <ConsolePage
      title="Reports"
      at="/reports"
      about={report ? aboutText(report) : 'Spend in any period, compared with the previous period.'}
    >
      {reportForm(input, report?.by, report?.keys ?? SPEND_KEYS)}
      {report && reportParts(input, report)}
      {answer.outcome === 'unreadable' && (
        <ui.Note tone="bad" role="alert">
          <strong>{FIELDS[answer.asked]}</strong>: {answer.sentence}.
        </ui.Note>
      )}
      {answer.outcome === 'unknown_group' && (
        <ui.Plain>
          <strong>
            {input.group === undefined ? 'Choose a group.' : `No report of ${input.group} is visible to you.`}
          </strong>
        </ui.Plain>
      )}
    </ConsolePage>
  );
};

const FIELDS = { period: 'Period', from: 'The first day', to: 'The last day', by: 'By' } as const;

const PERIODS: ui.ChoiceList = [
  ['month', 'this month'],
  ['last-month', 'last month'],
  ['quarter', 'this quarter'],
  ['last-quarter', 'last quarter'],
  ['year', 'this year'],
  ['last-year', 'last year'],
];

/** A date field shows only ISO days; a link may have `1.11.2026`. */
const isoDayOf = (written = ''): string => {
  const read = readWrittenDay(written);
  return read.ok ? read.text : '';
};

/** Two given days win over the selected period. */
function reportForm(input: SpendQuery, by: SpendKey | undefined, keys: readonly SpendKey[]): ui.Markup {
  const { period = 'month' } = input;
  const isListed = PERIODS.some(([value]) => value === period);
  return (
    <form class="filters" method="get" action="/reports" role="search">
      {ui.choice('Period', 'period', period, [...(isListed ? [] : [[period, period] as const]), ...PERIODS])}
      <label>
        or from
        <input type="date" name="from" value={isoDayOf(input.from)} />
      </label>
      <label>
        to
        <input type="date" name="to" value={isoDayOf(input.to)} />
      </label>
      {input.project === undefined ? (
        ui.searchField('Group', input.group, 'company/team', 'group')
      ) : (
        <input type="hidden" name="project" value={input.project} />
      )}
      {ui.choice('By', 'by', input.by && by, [
        ['', 'the next level'],
        ...keys.map((key) => [key, KEY_TEXTS[key]] as const),
      ])}
      <button>Show report</button>
    </form>
  );
}

function aboutText(report: SpendReport): ui.Markup {
  const { path, before, packedAtMs, subject, fromDay: from, toDay: to } = report;
  return (
    <>
      {path}, {ui.daySpan(report)}
      {before !== undefined && `, compared with ${ui.daySpan(before)}`}.{' '}
      {packedAtMs !== undefined && `Counted ${ui.distance(packedAtMs)}. `}
      {subject !== 'instance' && <a href={ui.address('/reports', { from, to })}>All my groups</a>}
    </>
  );
}

function reportParts(input: SpendQuery, report: SpendReport): ui.Markup {
  const { total, notes, by, rows, subject } = report;
  const isEmpty = total.jobs === 0 && (total.before?.jobs ?? 0) === 0;
  const file = (name: string, text: string): ui.Markup =>
    ui.button(ui.address(`/reports/${name}.csv`, sameQuery(input)), text);
  return (
    <>
      {notes.map((note) => (
        <ui.Note tone="warn" role="status">
          {note}
        </ui.Note>
      ))}
      {totalCard(report)}
      {isEmpty ? (
        <ui.Plain>
          <strong>No job was decided in this period.</strong>
        </ui.Plain>
      ) : (
        <>
          <ui.Card id="cost" title={`By ${KEY_TEXTS[by]}`} aside={ui.format().currency}>
            {spendTable(input, report)}
            <p class="actions">
              {file('spend', 'Download rows (CSV)')}
              {!subject.startsWith('project/') && file('groups', 'Download all groups (CSV)')}
            </p>
          </ui.Card>
          {rows.length > 0 && wasteCard(report)}
        </>
      )}
    </>
  );
}

function totalCard({ total }: SpendReport): ui.Markup {
  const { before, micros, heldMicros, rejected } = total;
  const money = (amount: number): string => ui.pageAmount(amount, 'micros');
  return (
    <ui.Card id="total" title="Total">
      <ui.Facts
        style="figures"
        of={[
          ['Spent', money(micros)],
          ['Held by running jobs', heldMicros !== 0 && money(heldMicros)],
          ['Previous period', before && money(before.micros)],
          ['Jobs', [ui.number(total.jobs), rejected > 0 && ui.soft(`${ui.number(rejected)} rejected`)]],
        ]}
      />
    </ui.Card>
  );
}
