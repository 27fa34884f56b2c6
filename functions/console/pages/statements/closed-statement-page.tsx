import { closedRows } from '../../../answers/statement/csv.ts';
import type { ClosedMonths } from '../../../answers/statement/model.ts';
import type { User } from '../../../core/signin/index.ts';
import { ConsolePage } from '../frame.tsx';
import { Card, Crumbs, Fact, Table } from '../parts/layout.tsx';
import { address, statementHref, subjectLink } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { type PageFormat, pageAmount, pageCount } from '../parts/page-format.tsx';
import { dateText, dayOfText, monthText } from './month-text.ts';

type ClosedStatement = ClosedMonths['statements'][number];

interface ClosedShown {
  readonly statement: ClosedStatement;
  /** It, and all months before it, are as they were written. */
  readonly isWhole: boolean;
  readonly origin: string;
}

/** A month as it was closed. */
export function closedStatementPage(user: User, shown: ClosedShown, telling: PageFormat): Markup {
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
