import type { ClosedMonths, StatementNumbers } from '../../../answers/statement/model.ts';
import type { User } from '../../../core/signin/index.ts';
import { ConsolePage } from '../frame.tsx';
import { Card, Table } from '../parts/layout.tsx';
import { statementHref, subjectLink } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { type PageFormat, pageAmount, pageCount } from '../parts/page-format.tsx';
import { dateText, monthText } from './month-text.ts';

interface StatementsShown {
  /** Typed text; absent: none. */
  readonly asked: string | undefined;
  /** Absent: the group does not exist or is not visible, or months are not closed here. */
  readonly months: ClosedMonths | undefined;
  /** The latest statements of all groups, the youngest first. */
  readonly latest: StatementNumbers['numbers'];
}

/** The closed months of a group, the last one first. */
export const statementsPage = (
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
