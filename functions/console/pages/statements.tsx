import { Hono } from 'hono';
import { dayIn, dayLabel, monthName } from '../../../policies/limits/calendar.ts';
import { closedCsv, closedFocusCsv, closedRows } from '../../answers/statement/csv.ts';
import type { ClosedMonths, StatementNumbers } from '../../answers/statement/model.ts';
import type { SignInEnv, User } from '../../core/signin/model.ts';
import { ConsolePage } from './frame.tsx';
import { type PageContext, type PagesDeps, pageFormatOf, query, send } from './page-deps.ts';
import { type PageFormat, pageAmount, pageCount } from './parts/amounts.tsx';
import {
  address,
  Card,
  Crumbs,
  Fact,
  type Markup,
  statementHref,
  subjectLink,
  Table,
} from './parts/layout.tsx';
import { unknownPlace } from './problem-page.tsx';

/** `2026-10` → `October 2026`. */
export function monthText(month: string): string {
  const [, year, number] = /^(\d{4})-(\d\d)$/.exec(month) ?? [];
  return year === undefined ? month : `${monthName(Number(number))} ${year}`;
}

/** `2026-10-05` → `5 October 2026`. */
function dayOfText(day: string): string {
  const [, year, month, number] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? [];
  return year === undefined
    ? day
    : dayLabel({ year: Number(year), month: Number(month), day: Number(number) });
}

/** `6 November 2026`, on the calendar of the zone. */
const dateText = (atMs: number, zone: string): string => dayLabel(dayIn(zone, atMs));

interface StatementsShown {
  /** Typed text; absent: none. */
  readonly asked: string | undefined;
  /** Absent: the group does not exist or is not visible, or months are not closed here. */
  readonly months: ClosedMonths | undefined;
  /** The latest statements of all groups, the youngest first. */
  readonly latest: StatementNumbers['numbers'];
}

/** The closed months of a group, the last one first. */
const statementsPage = (
  user: User,
  { asked, months, latest }: StatementsShown,
  telling: PageFormat,
): Markup => (
  <ConsolePage title="Statements" at="/statements" user={user}>
    <div class="head">
      <div>
        <h1>Statements</h1>
        <p>A month closes automatically five days after its end, and a closed statement never changes.</p>
      </div>
      <form class="filters" method="get" action="/statements" role="search">
        <label>
          Group
          <input type="search" name="group" value={asked ?? ''} placeholder="company/team" />
        </label>
        <button>Show</button>
      </form>
    </div>
    {months === undefined ? (
      <div class="card">
        <p>
          <strong>
            {asked === undefined ? 'Name a group.' : `There are no statements of ${asked} for you.`}
          </strong>
        </p>
        <p>Months are closed for each top-level group and for the whole GitLab.</p>
      </div>
    ) : (
      <section class="card" aria-labelledby="months">
        <h2 id="months">{groupTitle(months.group)}</h2>
        {chainNote(months)}
        {months.statements.length > 0 && monthsTable(months, telling)}
      </section>
    )}
    {latest.length > 0 && (
      <Card id="latest" title="Closed last, of all groups">
        {latestTable(latest)}
      </Card>
    )}
  </ConsolePage>
);

const latestTable = (latest: StatementsShown['latest']): Markup => (
  <Table label="Closed last" columns={[['Number', 'n'], 'Whose', 'Month']}>
    <tbody>
      {latest.map(({ number, subject, group, month }) => (
        <tr>
          <td class="n" data-label="Number">
            {number}
          </td>
          <td data-label="Whose">{subjectLink(subject, nameOf(subject, group))}</td>
          <th scope="row">
            <a href={statementHref(subject, month)}>
              {monthText(month)}
              <span class="hidden"> of {nameOf(subject, group)}</span>
            </a>
          </th>
        </tr>
      ))}
    </tbody>
  </Table>
);

const nameOf = (subject: string, group: string | undefined): string =>
  subject === 'instance' ? 'The whole GitLab' : (group ?? 'a group that is gone');

const groupTitle = (group: string): string => (group === 'instance' ? 'The whole GitLab' : group);

function chainNote({ statements, broken }: ClosedMonths): Markup {
  if (statements.length === 0)
    return <p>No month was closed yet: the first one closes five days after its end.</p>;
  if (broken === undefined)
    return (
      <p class="soft">
        {statements.length === 1
          ? 'The one statement is as it was written.'
          : `All ${statements.length} statements are as they were written.`}
      </p>
    );
  return (
    <div class="note bad" role="alert">
      <p>
        {broken.cause === 'text'
          ? `Statement ${broken.number} of ${monthText(broken.month)} was changed after it was closed.`
          : `Statement ${broken.number} of ${monthText(broken.month)} does not follow the month before it: that one was changed or is gone.`}{' '}
        Ask the platform team.
      </p>
    </div>
  );
}

const monthsTable = ({ statements }: ClosedMonths, telling: PageFormat): Markup => (
  <Table
    label="Closed months"
    columns={['Month', ['Number', 'n'], ['Jobs', 'n'], ['Due', 'n'], ['Of earlier months', 'n'], 'Closed']}
  >
    <tbody>
      {statements.toReversed().map(({ subject, month, number, totals, closedAtMs, zone }) => (
        <tr>
          <th scope="row">
            <a href={statementHref(subject, month)}>{monthText(month)}</a>
          </th>
          <td class="n" data-label="Number">
            {number}
          </td>
          <td class="n" data-label="Jobs">
            {pageCount(totals.jobs, 'job')}
          </td>
          <td class="n" data-label="Due">
            {pageAmount(totals.dueMicros, 'micros', telling)}
          </td>
          <td class="n" data-label="Of earlier months">
            {totals.adjustmentMicros === 0 ? 'none' : pageAmount(totals.adjustmentMicros, 'micros', telling)}
          </td>
          <td data-label="Closed">{dateText(closedAtMs, zone)}</td>
        </tr>
      ))}
    </tbody>
  </Table>
);

type ClosedStatement = ClosedMonths['statements'][number];

interface ClosedShown {
  readonly statement: ClosedStatement;
  /** It, and all months before it, are as they were written. */
  readonly isWhole: boolean;
  readonly origin: string;
}

/** A month as it was closed. */
function closedStatementPage(user: User, shown: ClosedShown, telling: PageFormat): Markup {
  const { statement, isWhole, origin } = shown;
  const { number, subject, group, month, zone, closedAtMs, totals, previousSha256, sha256 } = statement;
  // It was closed in the currency of its time.
  const format = { ...telling, currency: statement.currency };
  const name = subject === 'instance' ? 'the whole GitLab' : group;
  const list = address('/statements', { group: idOf(subject) });
  const path = (end: string): string => statementHref(subject, month, end);
  return (
    <ConsolePage title={`${monthText(month)} · ${name}`} at="/statements" user={user}>
      <div class="head">
        <div>
          <Crumbs>
            <li>
              <a href={list}>Statements</a>
            </li>
            <li>{subjectLink(subject, name)}</li>
          </Crumbs>
          <h1>
            {monthText(month)}, {name}
          </h1>
          <p>
            Statement {number}, closed on {dateText(closedAtMs, zone)}
          </p>
        </div>
        <div class="actions">
          <a class="button" href={path('/statement.csv')}>
            CSV
          </a>
          <a class="button" href={path('/focus.csv')}>
            FOCUS
          </a>
          <a class="button main" href={mailHref(statement, name, `${origin}${path('')}`, format)}>
            Send by mail
          </a>
        </div>
      </div>
      {!isWhole && (
        <div class="note bad" role="alert">
          <p>
            This statement or an earlier one was changed after it was written. Ask the platform team before
            you rely on it.
          </p>
        </div>
      )}
      <Card id="due" title={`Due: ${pageAmount(totals.dueMicros, 'micros', format)}`}>
        <dl class="figures">
          <div>
            <Fact name="Usage">
              {pageAmount(totals.micros, 'micros', format)}
              <small class="soft">{pageCount(totals.jobs, 'job')}</small>
            </Fact>
          </div>
          <div>
            <Fact name="Of earlier months">{pageAmount(totals.adjustmentMicros, 'micros', format)}</Fact>
          </div>
        </dl>
      </Card>
      <Card id="lines" title="Parts">
        {linesTable(statement, format)}
      </Card>
      <Card id="proof" title="Verification">
        <dl class="facts">
          <Fact name="Checksum">
            <code class="long">{sha256}</code>
          </Fact>
          <Fact name="Month before">
            {previousSha256 === '' ? 'None: this is the first.' : <code class="long">{previousSha256}</code>}
          </Fact>
          <Fact name="Price lists">{statement.priceVersions.join(', ')}</Fact>
        </dl>
        <p class="soft">
          Each statement has the checksum of the month before it, so none can be changed or taken away unseen.{' '}
          <code>tollgate statement verify</code> checks all of them.
        </p>
      </Card>
    </ConsolePage>
  );
}

const idOf = (subject: string): string => subject.replace(/^group\//, '');

const KINDS = { usage: 'Usage', adjustment: 'Earlier month' } as const;

const linesTable = (statement: ClosedStatement, format: PageFormat): Markup => (
  <Table label="Lines of the statement" columns={['', 'When', ['Jobs', 'n'], ['Cost', 'n'], 'About']}>
    <tbody>
      {closedRows(statement).map(({ kind, when, jobs, micros, about }) => (
        <tr>
          <td>{KINDS[kind]}</td>
          <th scope="row">{kind === 'usage' ? dayOfText(when) : monthText(when)}</th>
          <td class="n" data-label="Jobs">
            {pageCount(jobs, 'job')}
          </td>
          <td class="n" data-label="Cost">
            {pageAmount(micros, 'micros', format)}
          </td>
          <td>{about}</td>
        </tr>
      ))}
    </tbody>
  </Table>
);

/** Opens the reader's mail program; the reader chooses the receiver. */
function mailHref(
  { month, totals, sha256, number }: ClosedStatement,
  name: string,
  link: string,
  format: PageFormat,
) {
  const due = pageAmount(totals.dueMicros, 'micros', format);
  const about = `CI costs of ${name} in ${monthText(month)}: ${due}`;
  const body = [
    `${about} (statement ${number}, ${pageCount(totals.jobs, 'job')}).`,
    link,
    `Checksum: ${sha256}`,
  ].join('\n\n');
  return `mailto:?subject=${encodeURIComponent(about)}&body=${encodeURIComponent(body)}`;
}

const GROUP_CHARACTERS_MAX = 255;
/** A month of a company of some size. */
const LATEST_MAX = 50;
const FILES = { 'statement.csv': closedCsv, 'focus.csv': closedFocusCsv } as const;

/** A group's closed months, one of them as page, CSV and FOCUS. */
export function statementPageRoutes(deps: PagesDeps): Hono<SignInEnv> {
  const { read } = deps;
  const app = new Hono<SignInEnv>();

  app.get('/statements', async (c) => {
    const { user } = c.var;
    const asked = query(c, 'group', GROUP_CHARACTERS_MAX);
    const group = asked ?? ownGroup(user);
    const months = group === undefined ? undefined : await read.closedMonths(group, user);
    const latest = asked === undefined && seesAll(user) ? await read.lastStatements(LATEST_MAX) : [];
    return send(
      c,
      statementsPage(user, { asked, months, latest }, pageFormatOf(deps)),
      months === undefined && asked !== undefined ? 404 : 200,
    );
  });

  app.get('/statements/:month', async (c) => {
    const { user } = c.var;
    const found = await statementOf(c);
    if (found === undefined) return send(c, unknownPlace(user), 404);
    return send(c, closedStatementPage(user, { ...found, origin: deps.origin }, pageFormatOf(deps)));
  });

  app.get('/statements/:month/:file', async (c) => {
    const file = FILES[c.req.param('file') as keyof typeof FILES];
    const found = file === undefined ? undefined : await statementOf(c);
    if (file === undefined || found === undefined) return send(c, unknownPlace(c.var.user), 404);
    const { statement } = found;
    const kind = file === closedCsv ? 'statement' : 'focus';
    return c.body(file(statement), 200, {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${kind}-${statement.number}.csv"`,
    });
  });

  return app;

  async function statementOf(c: PageContext) {
    const group = query(c, 'group', GROUP_CHARACTERS_MAX);
    const months = group === undefined ? undefined : await read.closedMonths(group, c.var.user);
    const statement = months?.statements.find(({ month }) => month === c.req.param('month'));
    if (months === undefined || statement === undefined) return undefined;
    return { statement, isWhole: isWhole(months, statement.number) };
  }
}

/** Default subject: everything, or the user's first group. */
const ownGroup = (user: User): string | undefined =>
  seesAll(user) ? 'instance' : user.roles.viewerGroupIds[0]?.toString();

const seesAll = ({ roles: { admin, finance } }: User): boolean => admin || finance;

/** A break of the chain puts every statement from there on in doubt. */
const isWhole = ({ broken, statements }: ClosedMonths, number: number): boolean =>
  broken === undefined ||
  statements.findIndex((each) => each.number === number) <
    statements.findIndex((each) => each.number === broken.number);
