import { dayIn, dayLabel, dayOfIso, monthName } from '../../../policies/limits/calendar.ts';
import { amountText } from '../../../policies/unit-texts.ts';
import { closedCsv, closedFocusCsv, closedRows } from '../../answers/statement/csv.ts';
import type { ClosedMonths } from '../../answers/statement/model.ts';
import type { User } from '../../core/signin/model.ts';
import { sendCsv } from '../api/api-parts.ts';
import { ConsolePage } from './frame.tsx';
import { type PageContext, type PageRoutes, query, send } from './page.ts';
import * as ui from './parts/ui.ts';
import { sendUnknown } from './problem-page.tsx';

const FILES: Readonly<Record<string, typeof closedCsv>> = {
  'statement.csv': closedCsv,
  'focus.csv': closedFocusCsv,
};

export const statementPageRoutes: PageRoutes = (app, deps) => {
  const { read } = deps;
  const statementOf = async (c: PageContext) => {
    const group = query.text(c, 'group');
    const months = group === undefined ? undefined : await read.closedMonths(group, c.var.user);
    const statement = months?.statements.find(({ month }) => month === c.req.param('month'));
    return months && statement && { statement, isWhole: isWhole(months, statement.number) };
  };

  app.get('/statements', async (c) => {
    const { user } = c.var;
    const requested = query.text(c, 'group');
    const group = requested ?? ownGroup(user);
    const months = group === undefined ? undefined : await read.closedMonths(group, user);
    const page = statementsPage(requested, months);
    return send(c, page, months === undefined && requested !== undefined ? 404 : 200);
  });

  app.get('/statements/:month', async (c) => {
    const found = await statementOf(c);
    if (found === undefined) return sendUnknown(c);
    return send(c, closedStatementPage(found.statement, found.isWhole));
  });

  app.get('/statements/:month/:file', async (c) => {
    const name = c.req.param('file');
    const found = FILES[name] && (await statementOf(c));
    if (!found) return sendUnknown(c);
    const { statement } = found;
    return sendCsv(c, FILES[name]?.(statement) ?? '', name.replace('.csv', `-${statement.number}.csv`));
  });
};

const ownGroup = ({ roles: { admin, finance, viewerGroupIds } }: User): string | undefined =>
  admin || finance ? 'instance' : viewerGroupIds[0]?.toString();

/** A break of the chain puts every statement from there on in doubt. */
const isWhole = ({ broken, statements }: ClosedMonths, number: number): boolean =>
  broken === undefined ||
  statements.findIndex((each) => each.number === number) <
    statements.findIndex((each) => each.number === broken.number);

export function monthText(month: string): string {
  if (!/^\d{4}-\d\d$/.test(month)) return month;
  const { year, month: number } = dayOfIso(month);
  return `${monthName(number)} ${year}`;
}

const WHOLE = 'The whole GitLab';

/** @param months - absent: the group does not exist or is not visible, or months are not closed here */
const statementsPage = (requested: string | undefined, months: ClosedMonths | undefined): ui.Markup => (
  <ConsolePage
    title="Statements"
    at="/statements"
    about="A month closes automatically five days after its end, and a closed statement never changes."
    actions={
      <form class="filters" method="get" action="/statements" role="search">
        {ui.searchField('Group', requested, 'company/team', 'group')}
        <button>Show statements</button>
      </form>
    }
  >
    {months === undefined ? (
      <ui.Plain>
        {requested === undefined ? 'Choose a group.' : `No statements of ${requested} are visible to you.`}{' '}
        Months are closed for each top-level group and for the whole GitLab.
      </ui.Plain>
    ) : (
      <ui.Card id="months" title={months.group === 'instance' ? WHOLE : months.group}>
        {chainNote(months)}
        {months.statements.length > 0 && monthsTable(months)}
      </ui.Card>
    )}
  </ConsolePage>
);

function chainNote({ statements, broken }: ClosedMonths): ui.Markup {
  if (statements.length === 0)
    return <p>No month has been closed yet. Each month closes five days after its end.</p>;
  if (broken === undefined)
    return <p class="soft">All {statements.length} statements are unchanged since they were closed.</p>;
  return (
    <ui.Note tone="bad" role="alert">
      Statement {broken.number} of {monthText(broken.month)}{' '}
      {broken.cause === 'text' ? 'was changed after it was closed' : 'does not follow the month before it'}.
      Ask the platform team.
    </ui.Note>
  );
}

const monthsTable = ({ statements }: ClosedMonths): ui.Markup => (
  <ui.Table
    label="Closed months"
    columns={{
      Month: ({ subject, month }) => <a href={ui.statementHref(subject, month)}>{monthText(month)}</a>,
      Number: { style: 'n', cell: ({ number }) => number },
      Jobs: { style: 'n', cell: ({ totals }) => ui.number(totals.jobs) },
      Due: { style: 'n', cell: ({ totals }) => ui.pageAmount(totals.dueMicros, 'micros') },
      Adjustments: { style: 'n', cell: ({ totals }) => ui.pageAmount(totals.adjustmentMicros, 'micros') },
    }}
    rows={statements.toReversed()}
  />
);

type ClosedStatement = ClosedMonths['statements'][number];

/** @param isWhole - it, and all months before it, are as they were written */
function closedStatementPage(statement: ClosedStatement, isWhole: boolean): ui.Markup {
  const { number, subject, group, month, zone, closedAtMs, totals, previousSha256, sha256, currency } =
    statement;
  const name = subject === 'instance' ? 'the whole GitLab' : group;
  // It was closed in the currency of its time.
  const money = (micros: number): string => amountText(micros, 'micros', currency);
  return (
    <ConsolePage
      title={`${monthText(month)}, ${name}`}
      at="/statements"
      about={`Statement ${number}, closed on ${dayLabel(dayIn(zone, closedAtMs))}`}
      crumbs={[
        <a href={ui.address('/statements', { group: subject.replace(/^group\//, '') })}>Statements</a>,
        ui.subjectLink(subject, name),
      ]}
      actions={[
        ui.button(ui.statementHref(subject, month, '/statement.csv'), 'Download CSV'),
        ui.button(ui.statementHref(subject, month, '/focus.csv'), 'Download FOCUS'),
      ]}
    >
      {!isWhole && (
        <ui.Note tone="bad" role="alert">
          This statement or an earlier one was changed after it was closed. Ask the platform team.
        </ui.Note>
      )}
      <ui.Card id="due" title={`Due: ${money(totals.dueMicros)}`}>
        <ui.Table
          label="Lines of the statement"
          columns={{
            Period: ({ kind, when }) => (kind === 'usage' ? dayLabel(dayOfIso(when)) : monthText(when)),
            Kind: ({ kind }) => (kind === 'usage' ? 'Usage' : 'Earlier month'),
            Jobs: { style: 'n', cell: ({ jobs }) => ui.number(jobs) },
            Cost: { style: 'n', cell: ({ micros }) => money(micros) },
            Description: ({ about }) => about,
          }}
          rows={closedRows(statement)}
        />
      </ui.Card>
      <ui.Card id="proof" title="Verification">
        <ui.Facts
          of={[
            ['Checksum', <code>{sha256}</code>],
            ['Checksum of the month before', previousSha256 === '' ? 'None' : <code>{previousSha256}</code>],
            ['Price lists', statement.priceVersions.join(', ')],
          ]}
        />
        <p class="soft">
          Each statement has the checksum of the month before it. <code>tollgate statement verify</code>{' '}
          checks all of them.
        </p>
      </ui.Card>
    </ConsolePage>
  );
}
