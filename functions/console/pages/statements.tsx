import { dayIn, dayLabel, monthName } from '../../../policies/limits/calendar.ts';
import { closedCsv, closedFocusCsv, closedRows } from '../../answers/statement/csv.ts';
import type { ClosedMonths, StatementNumbers } from '../../answers/statement/model.ts';
import type { User } from '../../core/signin/model.ts';
import { ConsolePage } from './frame.tsx';
import { formatOf, type PageContext, type PageRoutes, query, send, sendCsv } from './page-deps.ts';
import { type PageFormat, pageAmount, pageCount } from './parts/amounts.tsx';
import {
  address,
  button,
  Card,
  Facts,
  hidden,
  type Markup,
  mailHref,
  Note,
  Plain,
  searchField,
  soft,
  statementHref,
  subjectLink,
  Table,
} from './parts/layout.tsx';
import { sendUnknown } from './problem-page.tsx';

/** A month of a company of some size. */
const LATEST_MAX = 50;
const FILES: Readonly<Record<string, typeof closedCsv>> = {
  'statement.csv': closedCsv,
  'focus.csv': closedFocusCsv,
};

/** A group's closed months, one of them as page, CSV and FOCUS. */
export const statementPageRoutes: PageRoutes = (app, deps) => {
  const { read } = deps;
  const statementOf = async (c: PageContext) => {
    const group = query(c, 'group');
    const months = group === undefined ? undefined : await read.closedMonths(group, c.var.user);
    const statement = months?.statements.find(({ month }) => month === c.req.param('month'));
    return months && statement && { statement, isWhole: isWhole(months, statement.number) };
  };

  app.get('/statements', async (c) => {
    const { user } = c.var;
    const asked = query(c, 'group');
    const group = asked ?? ownGroup(user);
    const months = group === undefined ? undefined : await read.closedMonths(group, user);
    const latest = asked === undefined && seesAll(user) ? await read.lastStatements(LATEST_MAX) : [];
    const page = statementsPage({ asked, months, latest }, formatOf(c, deps));
    return send(c, page, months === undefined && asked !== undefined ? 404 : 200);
  });

  app.get('/statements/:month', async (c) => {
    const found = await statementOf(c);
    if (found === undefined) return sendUnknown(c);
    return send(c, closedStatementPage({ ...found, origin: deps.origin }, formatOf(c, deps)));
  });

  app.get('/statements/:month/:file', async (c) => {
    const name = c.req.param('file');
    const found = FILES[name] && (await statementOf(c));
    if (!found) return sendUnknown(c);
    const { statement } = found;
    return sendCsv(c, FILES[name]?.(statement) ?? '', name.replace('.csv', `-${statement.number}.csv`));
  });
};

/** Default subject: everything, or the user's first group. */
const ownGroup = (user: User): string | undefined =>
  seesAll(user) ? 'instance' : user.roles.viewerGroupIds[0]?.toString();

const seesAll = ({ roles: { admin, finance } }: User): boolean => admin || finance;

/** A break of the chain puts every statement from there on in doubt. */
const isWhole = ({ broken, statements }: ClosedMonths, number: number): boolean =>
  broken === undefined ||
  statements.findIndex((each) => each.number === number) <
    statements.findIndex((each) => each.number === broken.number);

/** `2026-10` → `October 2026`. */
export function monthText(month: string): string {
  const [, year, number] = /^(\d{4})-(\d\d)$/.exec(month) ?? [];
  return year === undefined ? month : `${monthName(Number(number))} ${year}`;
}

/** `2026-10-05` → `5 October 2026`. */
function dayOfText(day: string): string {
  const [year = 0, month = 0, number = 0] = day.split('-').map(Number);
  return dayLabel({ year, month, day: number });
}

/** `6 November 2026`, on the calendar of the zone. */
const dateText = (atMs: number, zone: string): string => dayLabel(dayIn(zone, atMs));

const WHOLE = 'The whole GitLab';

interface StatementsShown {
  /** Typed text; absent: none. */
  readonly asked: string | undefined;
  /** Absent: the group does not exist or is not visible, or months are not closed here. */
  readonly months: ClosedMonths | undefined;
  /** The latest statements of all groups, the youngest first. */
  readonly latest: StatementNumbers['numbers'];
}

/** The closed months of a group, the last one first. */
const statementsPage = ({ asked, months, latest }: StatementsShown, format: PageFormat): Markup => (
  <ConsolePage
    title="Statements"
    at="/statements"
    user={format.user}
    about="A month closes automatically five days after its end, and a closed statement never changes."
    actions={
      <form class="filters" method="get" action="/statements" role="search">
        {searchField('Group', asked, 'company/team', 'group')}
        <button>Show</button>
      </form>
    }
  >
    {months === undefined ? (
      <Plain>
        <strong>
          {asked === undefined ? 'Name a group.' : `There are no statements of ${asked} for you.`}
        </strong>{' '}
        Months are closed for each top-level group and for the whole GitLab.
      </Plain>
    ) : (
      <Card id="months" title={months.group === 'instance' ? WHOLE : months.group}>
        {chainNote(months)}
        {months.statements.length > 0 && monthsTable(months, format)}
      </Card>
    )}
    {latest.length > 0 && (
      <Card id="latest" title="Closed last, of all groups">
        {latestTable(latest)}
      </Card>
    )}
  </ConsolePage>
);

function latestTable(latest: StatementsShown['latest']): Markup {
  const nameOf = ({ subject, group }: (typeof latest)[number]): string =>
    subject === 'instance' ? WHOLE : (group ?? 'a group that is gone');
  return (
    <Table
      label="Closed last"
      columns={[
        { head: 'Number', style: 'n', label: 'number', cell: ({ number }) => number },
        { head: 'Whose', cell: (row) => subjectLink(row.subject, nameOf(row)) },
        {
          ...{ head: 'Month', isName: true },
          cell: (row) => (
            <a href={statementHref(row.subject, row.month)}>
              {monthText(row.month)}
              {hidden(` of ${nameOf(row)}`)}
            </a>
          ),
        },
      ]}
      rows={latest}
    />
  );
}

function chainNote({ statements, broken }: ClosedMonths): Markup {
  if (statements.length === 0)
    return <p>No month was closed yet: the first one closes five days after its end.</p>;
  if (broken === undefined)
    return <p class="soft">All {statements.length} statements are as they were written.</p>;
  const what = `Statement ${broken.number} of ${monthText(broken.month)}`;
  return (
    <Note tone="bad" role="alert">
      {broken.cause === 'text'
        ? `${what} was changed after it was closed. `
        : `${what} does not follow the month before it: that one was changed or is gone. `}
      Ask the platform team.
    </Note>
  );
}

const monthsTable = ({ statements }: ClosedMonths, format: PageFormat): Markup => (
  <Table
    label="Closed months"
    columns={[
      {
        ...{ head: 'Month', isName: true },
        cell: ({ subject, month }) => <a href={statementHref(subject, month)}>{monthText(month)}</a>,
      },
      { head: 'Number', style: 'n', label: 'number', cell: ({ number }) => number },
      { head: 'Jobs', style: 'n', cell: ({ totals }) => pageCount(totals.jobs, 'job') },
      {
        ...{ head: 'Due', style: 'n', label: 'due' },
        cell: ({ totals }) => pageAmount(totals.dueMicros, 'micros', format),
      },
      {
        ...{ head: 'Of earlier months', style: 'n', label: 'of earlier months' },
        cell: ({ totals }) => pageAmount(totals.adjustmentMicros, 'micros', format),
      },
      { head: 'Closed', label: 'closed', cell: ({ closedAtMs, zone }) => dateText(closedAtMs, zone) },
    ]}
    rows={statements.toReversed()}
  />
);

type ClosedStatement = ClosedMonths['statements'][number];

interface ClosedShown {
  readonly statement: ClosedStatement;
  /** It, and all months before it, are as they were written. */
  readonly isWhole: boolean;
  readonly origin: string;
}

/** A month as it was closed. */
function closedStatementPage({ statement, isWhole, origin }: ClosedShown, format: PageFormat): Markup {
  const { number, subject, group, month, zone, closedAtMs, totals, previousSha256, sha256, currency } =
    statement;
  const name = subject === 'instance' ? 'the whole GitLab' : group;
  const path = (end = ''): string => statementHref(subject, month, end);
  // It was closed in the currency of its time.
  const money = (micros: number): string => pageAmount(micros, 'micros', { currency });
  const about = `CI costs of ${name} in ${monthText(month)}: ${money(totals.dueMicros)}`;
  const mail = [
    `${about} (statement ${number}, ${pageCount(totals.jobs, 'job')}).`,
    origin + path(),
    `Checksum: ${sha256}`,
  ];
  return (
    <ConsolePage
      title={`${monthText(month)} · ${name}`}
      at="/statements"
      user={format.user}
      heading={`${monthText(month)}, ${name}`}
      about={`Statement ${number}, closed on ${dateText(closedAtMs, zone)}`}
      crumbs={[
        <a href={address('/statements', { group: subject.replace(/^group\//, '') })}>Statements</a>,
        subjectLink(subject, name),
      ]}
      actions={[
        button(path('/statement.csv'), 'CSV'),
        button(path('/focus.csv'), 'FOCUS'),
        button(mailHref('', about, mail.join('\n\n')), 'Send by mail'),
      ]}
    >
      {!isWhole && (
        <Note tone="bad" role="alert">
          This statement or an earlier one was changed after it was written. Ask the platform team before you
          rely on it.
        </Note>
      )}
      <Card id="due" title={`Due: ${money(totals.dueMicros)}`}>
        <Facts
          style="figures"
          of={[
            ['Usage', [money(totals.micros), soft(pageCount(totals.jobs, 'job'))]],
            ['Of earlier months', money(totals.adjustmentMicros)],
          ]}
        />
      </Card>
      <Card id="lines" title="Parts">
        <Table
          label="Lines of the statement"
          columns={[
            { head: 'Kind', cell: ({ kind }) => (kind === 'usage' ? 'Usage' : 'Earlier month') },
            {
              ...{ head: 'When', isName: true },
              cell: ({ kind, when }) => (kind === 'usage' ? dayOfText(when) : monthText(when)),
            },
            { head: 'Jobs', style: 'n', cell: ({ jobs }) => pageCount(jobs, 'job') },
            { head: 'Cost', style: 'n', label: 'cost', cell: ({ micros }) => money(micros) },
            { head: 'About', cell: ({ about: text }) => text },
          ]}
          rows={closedRows(statement)}
        />
      </Card>
      <Card id="proof" title="Verification">
        <Facts
          of={[
            ['Checksum', <code>{sha256}</code>],
            [
              'Month before',
              previousSha256 === '' ? 'None: this is the first.' : <code>{previousSha256}</code>,
            ],
            ['Price lists', statement.priceVersions.join(', ')],
          ]}
        />
        <p class="soft">
          Each statement has the checksum of the month before it, so none can be changed or taken away unseen.{' '}
          <code>tollgate statement verify</code> checks all of them.
        </p>
      </Card>
    </ConsolePage>
  );
}
